package structs

import (
	"sync"
	"testing"

	"github.com/deed-project/deed/value"
)

// TestConcurrent shares documents, plans and pools between goroutines, for the race detector.
func TestConcurrent(t *testing.T) {
	text := podText(t)
	shared := mustParse(t, text)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				var p pod
				if err := Into(mustParse(t, text), &p); err != nil {
					t.Error(err)
				}
				v, err := From(&p)
				if err != nil {
					t.Error(err)
				}
				held, err := value.FromAny(shared.ToAny())
				if err != nil || !held.Equal(shared) || v.Get("spec").Len() == 0 {
					t.Errorf("a document differs from itself: %v", err)
				}
			}
		})
	}
	all.Wait()
}
