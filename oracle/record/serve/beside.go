package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"
)

// beside measures the rows that are asked for beside the floor, with all workers at the same time and then with one, and prints both as
// tables. Only the first has bars.
func (b *bench) beside(ctx context.Context, only *regexp.Regexp) error {
	for _, workers := range []int{b.atOnce, 1} {
		fmt.Fprintf(b.out, "\n| server CPU, %d at once | bar | floor |", workers)
		line := "|---|---|---|"
		for i := range b.subjects[1:] {
			fmt.Fprintf(b.out, " deed %d | times the floor |", i+1)
			line += "---|---|"
		}
		fmt.Fprintln(b.out, "\n"+line)
		for _, r := range rows {
			if !only.MatchString(r.name) {
				continue
			}
			if err := b.besideRow(ctx, r, workers); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return b.startsAndMemory()
}

// startsAndMemory prints how long each deed-apiserver took to start and to serve a resource that was just defined, and the memory that its
// process holds now.
func (b *bench) startsAndMemory() error {
	fmt.Fprintln(b.out, "\n| deed | from exec to a first list | from a definition to its first object | memory |\n|---|---|---|---|")
	for i, s := range b.subjects[1:] {
		n, err := s.resident()
		if err != nil {
			return err
		}
		t := b.started[i+1]
		fmt.Fprintf(b.out, "| %d | %s | %s | %d MB |\n", i+1, ms(middle(t.ready)), ms(middle(t.served)), n>>20)
	}
	return nil
}

// besideRow measures a row in rounds. In each round all servers have a turn, and each round begins with another server.
func (b *bench) besideRow(ctx context.Context, r row, workers int) error {
	if err := b.teach(ctx, r); err != nil {
		return err
	}
	costs := make([][]time.Duration, len(b.subjects))
	for round := range b.rounds {
		for i := range b.subjects {
			i = (i + round) % len(b.subjects)
			var c cost
			if err := b.turn(ctx, b.subjects[i].workers[:workers], r, &c); err != nil {
				return err
			}
			costs[i] = append(costs[i], c.perRequest(c.cpu))
		}
	}
	bar := ""
	if r.beside > 0 && workers > 1 {
		bar = fmt.Sprint(r.beside)
	}
	floor := middle(costs[0])
	fmt.Fprintf(b.out, "| %s | %s | %s |", r.name, bar, ms(floor))
	for _, c := range costs[1:] {
		fmt.Fprintf(b.out, " %s | %.2f |", ms(middle(c)), float64(middle(c))/float64(max(1, floor)))
	}
	fmt.Fprintln(b.out)
	return nil
}

// teach sends a request of a row to a deed-apiserver, and tells the floor to answer with the same bytes.
func (b *bench) teach(ctx context.Context, r row) error {
	w := b.subjects[1].workers[0]
	if r.name == deletes && w.created == 0 {
		create, _ := w.nextOf(rowOf(creates))
		if _, _, err := w.send(ctx, create); err != nil {
			return err
		}
	}
	q, _ := w.nextOf(r)
	answered, err := w.do(ctx, q, func(h http.Header) {
		if !b.plain {
			h.Set("Accept-Encoding", "gzip") // so that the client leaves it as it is
		}
	})
	if err != nil {
		return err
	}
	defer answered.Body.Close()
	text, err := io.ReadAll(answered.Body)
	if err != nil {
		return err
	}
	w.learn(r, text)
	floor := b.subjects[0]
	taught, err := floor.do(ctx, request{method: http.MethodPut, path: teaching, body: bytes.Clone(text)}, func(h http.Header) {
		h.Set("Content-Type", answered.Header.Get("Content-Type"))
		if encoding := answered.Header.Get("Content-Encoding"); encoding != "" {
			h.Set("Content-Encoding", encoding)
		}
	})
	if err != nil {
		return err
	}
	return taught.Body.Close()
}
