package controllers

import (
	"errors"
	"testing"
	"time"

	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/server/store/memory"
)

// What left the window is gone, while what is stored stays.
func TestCompaction(t *testing.T) {
	objects, key := memory.New(), "/registry/namespaces/default"
	first, err := objects.Put(t.Context(), key, []byte("{}"), 0)
	if err == nil {
		_, err = objects.Put(t.Context(), key, []byte(`{"a":1}`), first)
	}
	if err != nil {
		t.Fatal(err)
	}
	minute := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	asked := make(chan struct{})
	background := NewBackground(logs.Logger{})
	now := func() time.Time {
		select {
		case asked <- struct{}{}:
		case <-background.Context().Done():
		}
		minute = minute.Add(time.Minute)
		return minute
	}
	c := Compaction{Store: objects, Window: store.Window{Age: 2 * time.Minute}, Now: now, Interval: time.Millisecond}
	background.Go(c.Run)
	for range 10 {
		<-asked
	}
	background.Stop()
	if _, err := objects.Get(t.Context(), key, first); !errors.Is(err, store.ErrCompacted) {
		t.Errorf("the first revision: %v, want %v", err, store.ErrCompacted)
	}
	if r, err := objects.Get(t.Context(), key, 0); err != nil || string(r.Text) != `{"a":1}` {
		t.Errorf("what is stored: %q, %v", r.Text, err)
	}
}
