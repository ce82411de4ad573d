package history

import (
	"testing"
	"testing/synctest"
)

// TestFromTheBeginning watches from before the first revision, which works in a store that was never compacted.
func TestFromTheBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(nil, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"/a", "/b"} {
			if _, err := s.Put(t.Context(), key, nil, 0); err != nil {
				t.Fatal(err)
			}
		}
		batches, err := s.Watch(t.Context(), "", 0)
		if err != nil {
			t.Fatal(err)
		}
		for batch, err := range batches {
			if err != nil || len(batch.Events) != 2 || batch.Revision != 3 {
				t.Errorf("%d events up to %d, %v", len(batch.Events), batch.Revision, err)
			}
			return
		}
	})
}
