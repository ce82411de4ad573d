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

// stuck is an http.ResponseWriter that blocks until its deadline.
type stuck struct {
	*httptest.ResponseRecorder
	once  sync.Once
	ended chan struct{}
}

// Write blocks.
func (w *stuck) Write([]byte) (int, error) {
	<-w.ended
	return 0, os.ErrDeadlineExceeded
}

// SetWriteDeadline releases Write, because the deadline has always passed when it is called.
func (w *stuck) SetWriteDeadline(time.Time) error {
	w.once.Do(func() { close(w.ended) })
	return nil
}

// TestSlowWatchers sends events to a client that receives none. The stream ends after half a minute. Other streams reuse its deadline and
// have the full time.
func TestSlowWatchers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all deadlines
		for range 3 {
			quick := stream{httptest.NewRecorder(), &all, nil}
			if _, err := quick.send(Chunk{Text: []byte("event")}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(sendTimeout - time.Second)
			begun, slow := time.Now(), stream{&stuck{httptest.NewRecorder(), sync.Once{}, make(chan struct{})}, &all, nil}
			if _, err := slow.send(Chunk{Text: []byte("event")}); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a slow client is told: %v", err)
			}
			if took := time.Since(begun); took != sendTimeout {
				t.Errorf("a slow client is given %v", took)
			}
		}
	})
}
