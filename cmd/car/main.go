// Command car is a governed coding agent for the terminal.
package main

func main() {}
