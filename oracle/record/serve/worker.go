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
		n := w.sent
		switch {
		case r.name == creates:
			n = w.created
			w.created++
		case r.name != deletes:
			w.sent++
		case w.created == 0:
			return walls, nil
		default:
			w.created--
			n = w.created
		}
		answer, took, err := w.send(ctx, r.request(w, n))
		if err != nil {
			return walls, err
		}
		switch r.name {
		case updates:
			w.version = versionIn(answer)
		case pages:
			w.next = continueIn(answer)
		}
		walls = append(walls, took)
	}
	return walls, nil
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
