// Package memory is a store in the memory of the process. It ends with the process.
package memory

import "github.com/deed-project/deed/server/store/history"

// New returns an empty store. Close need not be called.
func New() *history.Store {
	s, err := history.New(nil, 1, nil)
	if err != nil {
		panic(err) // cannot happen: there is no journal to read
	}
	return s
}
