package loopback

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/value"
)

// Watch yields the events of a watch until it ends. path has the query of the watch. The last event may come with an error: the answer is a
// refusal, or is no JSON. A watch that ends by itself, or with ctx, ends without an error.
func (c *Client) Watch(ctx context.Context, path string) iter.Seq2[value.Value, error] {
	return func(yield func(value.Value, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		of := request.As(ctx, auth.System)
		r, err := http.NewRequestWithContext(of, http.MethodGet, path, nil)
		if err != nil {
			cancel()
			yield(value.Value{}, err)
			return
		}
		of.Info = request.NewInfo(r)
		r.Header.Set("User-Agent", Agent)
		r.Header.Set("Accept", "application/json")
		read, write := io.Pipe()
		ended := make(chan struct{})
		w := &stream{to: write}
		go func() {
			defer close(ended)
			c.Handler.ServeHTTP(w, r)
			write.Close()
		}()
		defer func() {
			cancel()
			read.Close() // the handler may be writing
			<-ended
		}()
		lines := bufio.NewReader(read)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil && len(line) == 0 {
				return
			}
			event, err := value.Parse(line)
			if kind := event.Get("type").Str(); err == nil && (kind == "" || kind == "ERROR") {
				err = fmt.Errorf("GET %s: %s", path, line)
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// stream is an http.ResponseWriter whose body is read while it is written.
type stream struct {
	header http.Header
	to     *io.PipeWriter
}

// Header returns the header of the answer.
func (w *stream) Header() http.Header {
	if w.header == nil {
		w.header = http.Header{}
	}
	return w.header
}

// WriteHeader does nothing: a refusal is told apart by its body.
func (w *stream) WriteHeader(int) {}

// Write waits until the reader has the bytes.
func (w *stream) Write(b []byte) (int, error) { return w.to.Write(b) }

// Flush does nothing: nothing is held back.
func (w *stream) Flush() {}
