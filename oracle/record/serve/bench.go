package main

import (
	"cmp"
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
	atOnce   int // how many workers send requests at the same time
	spend    time.Duration
	alone    bool       // without the reference
	plain    bool       // clients take no compressed answers
	floor    bool       // the reference is the floor
	apart    bool       // each worker has a connection of its own
	rounds   int        // how often a row is measured beside the floor
	subjects []*subject // the reference first
	started  []started  // of each subject
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

// starts is how often each server is started. The median counts.
const starts = 5

// start starts the servers in turns, defines the resource, and fills those that were started last.
func (b *bench) start(ctx context.Context, deeds []string) error {
	var err error
	if b.dir, err = os.MkdirTemp("", "serve"); err != nil {
		return err
	}
	launches := []func() (*subject, error){
		func() (*subject, error) { return startSelf(ctx, b.floor, b.plain) },
	}
	for _, deed := range deeds {
		launches = append(launches, func() (*subject, error) { return startDeed(ctx, deed, b.dir, b.plain) })
	}
	if b.alone {
		launches = launches[1:]
	}
	b.started = make([]started, len(launches))
	for i := range starts {
		for j, launch := range launches {
			s, err := launch()
			if err != nil {
				return err
			}
			if i == starts-1 {
				b.subjects = append(b.subjects, s)
			}
			err = b.started[j].add(ctx, s)
			if i < starts-1 {
				s.stop()
			}
			if err != nil {
				return err
			}
		}
	}
	for _, s := range b.subjects {
		if err := b.fill(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// started is how long the starts of a server took.
type started struct {
	ready  []time.Duration // until it said that it was ready
	served []time.Duration // from a definition until an object of the resource was created
}

// add defines the resource on a server that was just started.
func (t *started) add(ctx context.Context, s *subject) error {
	begun := time.Now()
	define := request{http.MethodPost, definitions, "application/json", "", definition, 201}
	if _, _, err := s.send(ctx, define); err != nil {
		return err
	}
	if err := s.await(ctx, createApp("first", "one")); err != nil {
		return err
	}
	t.ready, t.served = append(t.ready, s.ready), append(t.served, time.Since(begun))
	return nil
}

// middle returns the middle one.
func middle[T cmp.Ordered](all []T) T { return slices.Sorted(slices.Values(all))[len(all)/2] }

// fill creates the objects of the workers, and those that are listed.
func (b *bench) fill(ctx context.Context, s *subject) error {
	for id := range b.atOnce {
		w := &worker{subject: s, id: id}
		if b.apart {
			own := *s
			own.client = s.connection()
			w.subject = &own
		}
		if err := w.prepare(ctx); err != nil {
			return err
		}
		s.workers = append(s.workers, w)
	}
	return b.fillMany(ctx, s)
}

// creators is how many requests fillMany sends at once.
const creators = 8

// fillMany creates the objects that are listed.
func (b *bench) fillMany(ctx context.Context, s *subject) error {
	return atOnce(creators, func(c int) error {
		for i := c; i < b.objects; i += creators {
			if _, _, err := s.send(ctx, createApp(fmt.Sprintf("many-%05d", i), fmt.Sprintf("l%d", i%100))); err != nil {
				return err
			}
		}
		return nil
	})
}

// atOnce calls do with 0 to n-1, all at the same time, and waits for them.
func atOnce(n int, do func(int) error) error {
	errs := make(chan error)
	for i := range n {
		go func() { errs <- do(i) }()
	}
	var all error
	for range n {
		all = errors.Join(all, <-errs)
	}
	return all
}

// run measures the rows that are asked for, with requests of one worker and then of all at the same time, and prints both as tables.
func (b *bench) run(ctx context.Context, only *regexp.Regexp) error {
	if err := b.requests(ctx, only, 1, "one request at a time"); err != nil {
		return err
	}
	if b.atOnce > 1 {
		if err := b.requests(ctx, only, b.atOnce, fmt.Sprintf("%d requests at once", b.atOnce)); err != nil {
			return err
		}
	}
	return b.others()
}

// requests measures the rows with so many workers.
func (b *bench) requests(ctx context.Context, only *regexp.Regexp, workers int, title string) error {
	fmt.Fprintf(b.out, "\n| %s | CPU there | here | times less | bar | wall there | here | p99 there | here |\n", title)
	fmt.Fprintln(b.out, "|---|---|---|---|---|---|---|---|---|")
	for _, r := range rows {
		if only.MatchString(r.name) {
			if err := b.measure(ctx, r, workers); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return nil
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
func (b *bench) measure(ctx context.Context, r row, workers int) error {
	costs := make([]cost, len(b.subjects))
	begun := time.Now()
	enough := func(c cost) bool {
		return len(c.walls) > 0 && (c.cpu >= b.spend || time.Since(begun) > 8*b.spend)
	}
	for !enough(costs[0]) || !enough(costs[1]) {
		for i, s := range b.subjects {
			if enough(costs[i]) {
				continue
			}
			if err := b.turn(ctx, s.workers[:workers], r, &costs[i]); err != nil {
				return err
			}
		}
	}
	there, here := costs[0], costs[1]
	times := float64(there.perRequest(there.cpu)) / max(1, float64(here.perRequest(here.cpu)))
	fmt.Fprintf(b.out, "| %s | %s | %s | %.*f | %.0f to %.0f | %s | %s | %s | %s |\n", r.name, ms(there.perRequest(there.cpu)), ms(here.perRequest(here.cpu)),
		decimals(times), times, r.least, r.aim, ms(there.wall()), ms(here.wall()), ms(there.p99()), ms(here.p99()))
	return nil
}

// afterwork is what creates may have left to do, which is not to be counted for deletes.
const afterwork = 500 * time.Millisecond

// turn lets workers of a server send requests for a while. What they are to delete is created before, and not counted.
func (b *bench) turn(ctx context.Context, workers []*worker, r row, c *cost) error {
	if r.name == deletes {
		if err := b.turn(ctx, workers, rowOf(creates), new(cost)); err != nil {
			return err
		}
		time.Sleep(afterwork)
	}
	before, err := workers[0].cpu()
	if err != nil {
		return err
	}
	walls := make([][]time.Duration, len(workers))
	failed := atOnce(len(workers), func(i int) (err error) {
		walls[i], err = workers[i].work(ctx, r, b.spend/2)
		return err
	})
	after, err := workers[0].cpu()
	c.cpu += after - before
	c.walls = append(c.walls, slices.Concat(walls...)...)
	return errors.Join(failed, err, ctx.Err())
}

// decimals is how many decimals a ratio is told with.
func decimals(times float64) int {
	if times < 2 {
		return 2
	}
	return 0
}

func ms(d time.Duration) string { return fmt.Sprintf("%.3f ms", millis(d)) }

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// others prints what is not of requests: how long the servers took to start and to serve a resource that was just defined, and the memory
// that their processes hold now.
func (b *bench) others() error {
	there, here := b.started[0], b.started[1]
	var held [2]float64
	for i, s := range b.subjects {
		n, err := s.resident()
		if err != nil {
			return err
		}
		held[i] = float64(n) / (1 << 20)
	}
	fmt.Fprintln(b.out, "\n| what | there | here | times less | bar |")
	fmt.Fprintln(b.out, "|---|---|---|---|---|")
	for _, o := range []struct {
		what, unit, bar string
		there, here     float64
	}{
		{"from exec to a first list", "ms", "20 to 40", millis(middle(there.ready)), millis(middle(here.ready))},
		{"from a definition to its first object", "ms", "10 ms to 2 ms", millis(middle(there.served)), millis(middle(here.served))},
		{fmt.Sprintf("memory with %d objects", b.objects), "MB", "8 to 12, with 100000", held[0], held[1]},
	} {
		fmt.Fprintf(b.out, "| %s | %.1f %s | %.1f %s | %.1f | %s |\n", o.what, o.there, o.unit, o.here, o.unit, o.there/o.here, o.bar)
	}
	return nil
}
