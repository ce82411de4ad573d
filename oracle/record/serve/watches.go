package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// watching is a watch under way, as a client reads it.
type watching struct {
	cancel context.CancelFunc
	done   chan struct{}
	told   atomic.Int64 // events
}

func (w *watching) stop() {
	w.cancel()
	<-w.done
}

// watch opens a watch, and calls event with each line of it.
func (s *subject) watch(ctx context.Context, client *http.Client, query string, event func(*watching, []byte)) (*watching, error) {
	ctx, cancel := context.WithCancel(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.where.Host+collection+"?watch=true"+query, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+s.where.Token)
	answer, err := client.Do(r)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: a watch is answered with %s", s.name, answer.Status)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	w := &watching{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer answer.Body.Close()
		lines := bufio.NewReaderSize(answer.Body, readSize)
		for {
			line, err := lines.ReadSlice('\n')
			if len(line) > 0 && event != nil {
				event(w, line)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil {
				return
			}
			w.told.Add(1)
		}
	}()
	return w, nil
}

// readSize is how much of a watch is read at once: so much that the client is no burden to the machine, nor makes the server wait for it.
const readSize = 64 << 10

// connection returns a client with a connection of its own.
func (s *subject) connection() *http.Client {
	return &http.Client{Transport: s.client.Transport.(*http.Transport).Clone()}
}

// watchers opens n watches from now on, so many over one connection.
func (s *subject) watchers(ctx context.Context, n, together int, event func(*watching, []byte)) ([]*watching, error) {
	text, _, err := s.send(ctx, request{http.MethodGet, collection + "?limit=1", "", "", nil, http.StatusOK})
	if err != nil {
		return nil, err
	}
	_, version, _ := bytes.Cut(text, []byte(`"remainingItemCount"`))
	_, version, found := bytes.Cut(version, []byte(`"resourceVersion":"`))
	if !found {
		return nil, fmt.Errorf("%s: the list has no version", s.name)
	}
	version, _, _ = bytes.Cut(version, []byte(`"`))
	var out []*watching
	var client *http.Client
	for i := range n {
		if i%together == 0 {
			client = s.connection()
		}
		w, err := s.watch(ctx, client, "&resourceVersion="+string(version), event)
		if err != nil {
			return out, err
		}
		out = append(out, w)
	}
	return out, nil
}

func stopAll(watches []*watching) {
	for _, w := range watches {
		w.stop()
	}
}

// mark is a write that says in an annotation when it was sent.
func (s *subject) mark() request {
	body := fmt.Appendf(nil, `{"metadata":{"annotations":{"sent":"%d"}}}`, time.Now().UnixNano())
	return request{http.MethodPatch, collection + "/" + s.workers[0].object(patched) + "?fieldManager=load", merged, "", body, http.StatusOK}
}

// turns is how often a row is measured, by turns on both servers: the middle one counts.
const turns = 3

// watches measures what events cost, and how long they take, in the rows that are asked for. Meanwhile the clients collect their garbage
// seldom: they are to be no burden to the machine.
func (b *bench) watches(ctx context.Context, only *regexp.Regexp, events, informers int) error {
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	fmt.Fprintln(b.out, "| watches | there | here | times less | bar |\n|---|---|---|---|---|")
	for _, r := range []struct {
		name    string
		bar     string
		unit    string
		turns   int
		measure func(*subject) (float64, error)
	}{
		{"memory of an idle watcher of 1,000", "4 to 10", "kB", 1, func(s *subject) (float64, error) { return s.idle(ctx, 1000) }},
		{"CPU of one event to one of 100 watchers", "3 to 8", "ms", turns, func(s *subject) (float64, error) { return s.costOfEvent(ctx, events, 100) }},
		{"CPU of one event to one of 500 watchers", "2 to 4", "ms", turns, func(s *subject) (float64, error) { return s.costOfEvent(ctx, events/2, 500) }},
		{"p99 from write to delivery, 20 writes a second to 100 watchers", "5 ms", "ms", turns, func(s *subject) (float64, error) { return s.delay(ctx, events, 100, 1) }},
		{"the same p99, ten watchers to a connection", "5 ms", "ms", turns, func(s *subject) (float64, error) { return s.delay(ctx, events, 100, 10) }},
		{"the same p99, all over one connection", "5 ms", "ms", turns, func(s *subject) (float64, error) { return s.delay(ctx, events, 100, 100) }},
		{fmt.Sprintf("CPU of an informer that starts on %d objects", b.objects), "40 to 80", "ms", turns, func(s *subject) (float64, error) { return s.informer(ctx, informers) }},
	} {
		if !only.MatchString(r.name) {
			continue
		}
		got := make([][]float64, len(b.subjects))
		for range r.turns {
			for i, s := range b.subjects {
				one, err := r.measure(s)
				if err != nil {
					return fmt.Errorf("%s: %s: %w", s.name, r.name, err)
				}
				got[i] = append(got[i], one)
			}
		}
		there, here := middle(got[0]), middle(got[len(got)-1])
		fmt.Fprintf(b.out, "| %s | %.3f %s | %.3f %s | %.1f | %s |\n", r.name, there, r.unit, here, r.unit, there/max(here, 0.001), r.bar)
	}
	return nil
}

// spent returns the CPU time that the process spends while f runs.
func (s *subject) spent(f func() error) (time.Duration, error) {
	before, err := s.cpu()
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := s.cpu()
	return after - before, err
}

// costOfEvent returns the CPU time of an event for one of n watchers, each with a connection of its own, beyond that of the write.
func (s *subject) costOfEvent(ctx context.Context, writes, n int) (float64, error) {
	write := func() error {
		for range writes {
			if _, _, err := s.send(ctx, s.mark()); err != nil {
				return err
			}
		}
		return nil
	}
	alone, err := s.spent(write)
	if err != nil {
		return 0, err
	}
	watches, err := s.watchers(ctx, n, 1, nil)
	defer stopAll(watches)
	if err != nil {
		return 0, err
	}
	both, err := s.spent(func() error {
		if err := write(); err != nil {
			return err
		}
		return awaitAll(ctx, watches, int64(writes))
	})
	return float64(both-alone) / float64(time.Millisecond) / float64(writes*n), err
}

// awaitAll waits until all watches were told of so many events.
func awaitAll(ctx context.Context, watches []*watching, events int64) error {
	for _, w := range watches {
		for begun := time.Now(); w.told.Load() < events; time.Sleep(time.Millisecond) {
			if ctx.Err() != nil || time.Since(begun) > time.Minute {
				return fmt.Errorf("a watch was told of %d events of %d", w.told.Load(), events)
			}
		}
	}
	return nil
}

// delay returns the 99th percentile of the time from a write to its delivery to n watchers, so many over one connection, in milliseconds.
func (s *subject) delay(ctx context.Context, writes, n, together int) (float64, error) {
	var mu sync.Mutex
	var took []time.Duration
	watches, err := s.watchers(ctx, n, together, func(_ *watching, line []byte) {
		now := time.Now().UnixNano()
		_, text, found := bytes.Cut(line, []byte(`"sent":"`))
		text, _, _ = bytes.Cut(text, []byte(`"`))
		if sent, err := strconv.ParseInt(string(text), 10, 64); found && err == nil {
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Duration(now-sent))
		}
	})
	defer stopAll(watches)
	if err != nil {
		return 0, err
	}
	ticker := time.NewTicker(time.Second / 20)
	defer ticker.Stop()
	for range writes {
		<-ticker.C
		if _, _, err := s.send(ctx, s.mark()); err != nil {
			return 0, err
		}
	}
	if err := awaitAll(ctx, watches, int64(writes)); err != nil {
		return 0, err
	}
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(took)
	return float64(took[len(took)*99/100]) / float64(time.Millisecond), nil
}

// settled is when what the beginning of a server, or of watches, left is collected, which Go does every two minutes, and given back.
const settled = 150 * time.Second

// idle returns the memory, in kB, that the process holds for one of n watchers that wait, a hundred to a connection. Before they begin, the
// server has to give back what it needed to start: they would live in that, and seem to cost the less the more it is.
func (s *subject) idle(ctx context.Context, n int) (float64, error) {
	time.Sleep(settled)
	before, err := s.resident()
	if err != nil {
		return 0, err
	}
	watches, err := s.watchers(ctx, n, 100, nil)
	defer stopAll(watches)
	if err != nil {
		return 0, err
	}
	time.Sleep(settled)
	after, err := s.resident()
	return float64(after-before) / 1024 / float64(n), err
}

// informer returns the CPU time, in milliseconds, of a streamed list, of n that begin at once.
func (s *subject) informer(ctx context.Context, n int) (float64, error) {
	spent, err := s.spent(func() error {
		synced := make(chan struct{}, n)
		for range n {
			w, err := s.watch(ctx, s.connection(), "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan",
				func(_ *watching, line []byte) {
					if bytes.Contains(line, []byte("k8s.io/initial-events-end")) {
						synced <- struct{}{}
					}
				})
			if err != nil {
				return err
			}
			defer w.stop()
		}
		for range n {
			select {
			case <-synced:
			case <-time.After(5 * time.Minute):
				return errors.New("an informer does not begin")
			}
		}
		return nil
	})
	return float64(spent) / float64(time.Millisecond) / float64(n), err
}
