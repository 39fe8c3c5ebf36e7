// Package tooltest is what the tests of tools share: Suite, which every tool
// passes, and House, a workspace with the real local substrate and an Env over
// it that stands in for dispatch.
//
// Only tests import it. It may import every room of the tools.
package tooltest
