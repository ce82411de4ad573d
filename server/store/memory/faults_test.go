package memory_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/server/store/storetest"
)

// Of 10,000 operations many are given up by their callers, before they begin or while they are under way.
func TestCancelledContexts(t *testing.T) {
	s := memory.New()
	defer s.Close()
	storetest.Linearizable(t, storetest.History{
		Clients: 20, Each: 500,
		Store: func() store.Store { return s },
		Context: func(r *rand.Rand) (context.Context, context.CancelFunc) {
			if r.IntN(20) == 0 { // of more, on a busy machine, too many histories are possible to look through all
				return context.WithTimeout(t.Context(), time.Duration(r.IntN(5))*time.Microsecond)
			}
			return context.WithCancel(t.Context())
		},
		Uncertain: func(err error) bool {
			return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
		},
	})
}
