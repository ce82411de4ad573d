package watch

import (
	"errors"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// stuck is an answer that takes nothing before its deadline: http.ResponseWriter.
type stuck struct {
	*httptest.ResponseRecorder
	once  sync.Once
	ended chan struct{}
}

// Write waits.
func (w *stuck) Write([]byte) (int, error) {
	<-w.ended
	return 0, os.ErrDeadlineExceeded
}

// SetWriteDeadline ends what waits, as the time is over whenever this is called.
func (w *stuck) SetWriteDeadline(time.Time) error {
	w.once.Do(func() { close(w.ended) })
	return nil
}

// TestSlowWatchers sends events to a client that takes none: the stream ends after half a minute, and others, which use the deadlines of
// those before them, have the same time from when they are sent something.
func TestSlowWatchers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all deadlines
		for range 3 {
			quick := stream{httptest.NewRecorder(), &all, nil}
			if err := quick.send(Chunk{Text: []byte("event")}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(sendTimeout - time.Second)
			begun, slow := time.Now(), stream{&stuck{httptest.NewRecorder(), sync.Once{}, make(chan struct{})}, &all, nil}
			if err := slow.send(Chunk{Text: []byte("event")}); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a slow client is told: %v", err)
			}
			if took := time.Since(begun); took != sendTimeout {
				t.Errorf("a slow client is given %v", took)
			}
		}
	})
}
