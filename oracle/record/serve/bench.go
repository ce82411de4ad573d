package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"time"
)

// bench measures rows on both servers.
type bench struct {
	out      io.Writer
	objects  int
	spend    time.Duration
	subjects []*subject // the reference first
	dir      string
}

func (b *bench) stop() {
	for _, s := range b.subjects {
		s.stop()
	}
	if b.dir != "" {
		os.RemoveAll(b.dir)
	}
}

// start starts both servers, defines the resource, and fills it.
func (b *bench) start(ctx context.Context, deed string) error {
	var err error
	if b.dir, err = os.MkdirTemp("", "serve"); err != nil {
		return err
	}
	there, err := startPeer()
	if err != nil {
		return err
	}
	b.subjects = append(b.subjects, there)
	here, err := startDeed(deed, b.dir)
	if err != nil {
		return err
	}
	b.subjects = append(b.subjects, here)
	for _, s := range b.subjects {
		if err := b.fill(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) fill(ctx context.Context, s *subject) error {
	define := request{http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", "", definition, 201}
	if _, _, err := s.send(ctx, define); err != nil {
		return err
	}
	first := createApp("patched", "one")
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		_, _, err := s.send(ctx, first)
		if err == nil {
			break
		}
		if time.Since(begun) > 30*time.Second {
			return err
		}
	}
	for _, name := range []string{"one", "same"} {
		if _, _, err := s.send(ctx, applyApp(name, "a", 1, 201, "")); err != nil {
			return err
		}
	}
	for i := range b.objects {
		if _, _, err := s.send(ctx, createApp(fmt.Sprintf("many-%05d", i), fmt.Sprintf("l%d", i%100))); err != nil {
			return err
		}
	}
	return nil
}

// run measures the rows that are asked for, and prints them as a table.
func (b *bench) run(ctx context.Context, only *regexp.Regexp) error {
	fmt.Fprintln(b.out, "| request | CPU there | here | times less | bar | wall there | here | p99 there | here |")
	fmt.Fprintln(b.out, "|---|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		if only.MatchString(r.name) {
			if err := b.measure(ctx, r); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return b.memory()
}

// cost is what requests cost a server.
type cost struct {
	cpu   time.Duration
	walls []time.Duration
}

func (c cost) perRequest(of time.Duration) time.Duration { return of / time.Duration(len(c.walls)) }

func (c cost) wall() time.Duration {
	var sum time.Duration
	for _, w := range c.walls {
		sum += w
	}
	return c.perRequest(sum)
}

func (c cost) p99() time.Duration {
	slices.Sort(c.walls)
	return c.walls[len(c.walls)*99/100]
}

// measure sends a row to both servers in turns, until each has spent enough CPU time or time.
func (b *bench) measure(ctx context.Context, r row) error {
	costs := make([]cost, len(b.subjects))
	sent := make([]int, len(b.subjects))
	begun := time.Now()
	enough := func(c cost) bool { return c.cpu >= b.spend || time.Since(begun) > 8*b.spend }
	for !enough(costs[0]) || !enough(costs[1]) {
		for i, s := range b.subjects {
			if enough(costs[i]) || r.name == "delete" && costs[i].cpu > 0 {
				continue
			}
			if err := b.turn(ctx, s, r, &costs[i], &sent[i]); err != nil {
				return err
			}
		}
		if r.name == "delete" {
			break // there is no more than was created
		}
	}
	there, here := costs[0], costs[1]
	times := float64(there.perRequest(there.cpu)) / max(1, float64(here.perRequest(here.cpu)))
	fmt.Fprintf(b.out, "| %s | %s | %s | %.0f | %.0f to %.0f | %s | %s | %s | %s |\n", r.name, ms(there.perRequest(there.cpu)), ms(here.perRequest(here.cpu)),
		times, r.least, r.aim, ms(there.wall()), ms(here.wall()), ms(there.p99()), ms(here.p99()))
	return nil
}

// created is how many objects the row create makes on each server, and the row delete removes.
var created = map[string]int{}

// turn sends requests for a while.
func (b *bench) turn(ctx context.Context, s *subject, r row, c *cost, sent *int) error {
	before, err := s.cpu()
	if err != nil {
		return err
	}
	for begun := time.Now(); time.Since(begun) < b.spend/2; *sent++ {
		if r.name == "delete" && *sent == created[s.name] {
			break
		}
		_, took, err := s.send(ctx, r.request(*sent))
		if err != nil {
			return err
		}
		c.walls = append(c.walls, took)
		if r.name == "create" {
			created[s.name] = *sent + 1
		}
	}
	after, err := s.cpu()
	c.cpu += after - before
	return errors.Join(err, ctx.Err())
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond)) }

// memory prints what each process holds.
func (b *bench) memory() error {
	for _, s := range b.subjects {
		n, err := s.resident()
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "%s holds %d MB with %d objects\n", s.name, n>>20, b.objects)
	}
	return nil
}
