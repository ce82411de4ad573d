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

// TestCancelledContexts runs 10,000 operations. Many are cancelled before they begin or while they run.
func TestCancelledContexts(t *testing.T) {
	s := memory.New()
	defer s.Close()
	storetest.Linearizable(t, storetest.History{
		Clients: 20, Each: 500,
		Store: func() store.Store { return s },
		Context: func(r *rand.Rand) (context.Context, context.CancelFunc) {
			if r.IntN(20) == 0 { // with more, a busy machine leaves too many possible histories for the check
				return context.WithTimeout(t.Context(), time.Duration(r.IntN(5))*time.Microsecond)
			}
			return context.WithCancel(t.Context())
		},
		Uncertain: func(err error) bool {
			return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
		},
	})
}
