// Package memory is a store in the process's memory. It ends with the process.
package memory

import "github.com/deed-project/deed/server/store/history"

// New returns an empty store. It is a store.Store; Close need not be called.
func New() *history.Store {
	s, err := history.New(nil, 1, nil)
	if err != nil {
		panic(err) // without a journal nothing is read
	}
	return s
}
