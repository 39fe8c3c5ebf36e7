// Package llmtest is the suite that every provider passes, with what it needs: a
// description of replies and faults in no provider's format, a fake provider that
// plays them, and a loopback server that plays them in an adapter's format.
//
// Run holds a provider to the contract of llm.Provider; RunHTTP adds what only a
// connection can do wrong: bytes split and cut anywhere, answers that are no
// stream, connections left open.
//
// To test a provider, write its Wire (how a Reply looks in its format) and call
// RunHTTP, or write a Driver and call Run. The fake is held to the suite as well.
//
// The package is for tests. It may import llm, llm/wire and the testing packages.
package llmtest
