package main

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"time"
)

// worker sends one request after another to a server, about objects of its own. All workers share a connection, as those of a
// controller do.
type worker struct {
	*subject
	id      int
	version string // the resource version of the object that it updates
	next    string // where its next page begins; "" for the first one
	sent    int    // how many requests it sent of rows but these two:
	created int    // how many objects it created and did not delete
}

// The objects of a worker. Those that are applied are manager a's.
const (
	changed = "changed"
	same    = "same"
	patched = "patched"
	updated = "updated"
)

// object returns the name of an object of the worker.
func (w *worker) object(name string) string { return fmt.Sprintf("worker-%d-%s", w.id, name) }

// prepare creates the objects that the worker changes.
func (w *worker) prepare(ctx context.Context) error {
	for _, q := range []request{
		applyApp(w.object(changed), "a", 1, 201, ""),
		applyApp(w.object(same), "a", 1, 201, ""),
		createApp(w.object(patched), "one"),
		createApp(w.object(updated), "one"),
	} {
		answer, _, err := w.send(ctx, q)
		if err != nil {
			return err
		}
		w.version = versionIn(answer)
	}
	return nil
}

// work sends requests of a row for a while, and returns how long each took.
func (w *worker) work(ctx context.Context, r row, spend time.Duration) ([]time.Duration, error) {
	var walls []time.Duration
	for begun := time.Now(); time.Since(begun) < spend; {
		q, ok := w.nextOf(r)
		if !ok {
			return walls, nil
		}
		answer, took, err := w.send(ctx, q)
		if err != nil {
			return walls, err
		}
		w.learn(r, answer)
		walls = append(walls, took)
	}
	return walls, nil
}

// nextOf returns the worker's next request of a row. It returns false if the row deletes and no object is left.
func (w *worker) nextOf(r row) (q request, ok bool) {
	n := w.sent
	switch {
	case r.name == creates:
		n = w.created
		w.created++
	case r.name != deletes:
		w.sent++
	case w.created == 0:
		return q, false
	default:
		w.created--
		n = w.created
	}
	return r.request(w, n), true
}

// learn keeps what the next request of a row needs of the answer to the last one.
func (w *worker) learn(r row, answer []byte) {
	switch r.name {
	case updates:
		w.version = versionIn(answer)
	case pages:
		w.next = continueIn(answer)
	}
}

var versionPattern = regexp.MustCompile(`"resourceVersion":"([0-9]+)"`)

// versionIn returns the resource version of an object.
func versionIn(object []byte) string { return foundBy(versionPattern, object) }

var continuePattern = regexp.MustCompile(`"continue":"([^"]+)"`)

// continueIn returns where the page behind a page begins, "" if it is the last one.
func continueIn(list []byte) string {
	const near = 1000 // of an end of the list, where its metadata is
	return cmp.Or(foundBy(continuePattern, list[max(0, len(list)-near):]), foundBy(continuePattern, list[:min(len(list), near)]))
}

func foundBy(pattern *regexp.Regexp, text []byte) string {
	if found := pattern.FindSubmatch(text); found != nil {
		return string(found[1])
	}
	return ""
}
