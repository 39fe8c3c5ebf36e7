package store

// MaxWaiting is how many inputs of one mode may wait in a session (A-SVC-4).
const MaxWaiting = 16
