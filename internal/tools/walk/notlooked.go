package walk

// NotLookedAt is the part of an answer that says what was passed over
// (T-FILE-19). Members that are zero are left out; nil means nothing was.
type NotLookedAt struct {
	IgnoredFiles   int      `json:"ignored_files,omitempty"`
	IgnoredFolders int      `json:"ignored_folders,omitempty"`
	IgnoredNames   []string `json:"ignored_names,omitempty"`
	Hidden         int      `json:"hidden,omitempty"`
	Unreadable     int      `json:"unreadable,omitempty"`
	Binary         int      `json:"binary,omitempty"`
	TooLarge       int      `json:"too_large,omitempty"`
	Secret         int      `json:"secret,omitempty"`
	Links          int      `json:"links,omitempty"`
	// Special are devices, FIFOs and sockets.
	Special int `json:"special,omitempty"`
}

// NotLookedAt turns the counts of a walk into the part of an answer, to which a
// tool may add its own; see OrNil.
func (s Skipped) NotLookedAt() NotLookedAt {
	return NotLookedAt{
		IgnoredFiles: s.IgnoredFiles, IgnoredFolders: s.IgnoredFolders, IgnoredNames: s.Names, Hidden: s.Hidden, Unreadable: s.Unreadable,
	}
}

// OrNil leaves out an answer's part that says nothing.
func (n NotLookedAt) OrNil() *NotLookedAt {
	if n.IgnoredFiles+n.IgnoredFolders+n.Hidden+n.Unreadable+n.Binary+n.TooLarge+n.Secret+n.Links+n.Special == 0 {
		return nil
	}
	return &n
}
