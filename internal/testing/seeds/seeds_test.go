package seeds

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// probe is a test that may fail. It keeps its log.
type probe struct {
	testing.TB
	failed   bool
	log      []string
	cleanups []func()
}

func (p *probe) Helper()                   {}
func (p *probe) Failed() bool              { return p.failed }
func (p *probe) Cleanup(f func())          { p.cleanups = append(p.cleanups, f) }
func (p *probe) Logf(f string, a ...any)   { p.log = append(p.log, fmt.Sprintf(f, a...)) }
func (p *probe) Fatalf(f string, a ...any) { p.Logf(f, a...); p.failed = true; panic(p) }

// ended runs the cleanups of p, and returns its log.
func (p *probe) ended() string {
	for _, f := range p.cleanups {
		f()
	}
	return strings.Join(p.log, "\n")
}

func TestFirst(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint64
	}{{"", 1}, {"7", 7}, {"18446744073709551615", 1<<64 - 1}} {
		t.Setenv(Variable, c.text)
		p := &probe{}
		if got := First(p); got != c.want || p.ended() != "" {
			t.Errorf("the seed of %q is %d and logs %q, want %d and nothing", c.text, got, p.ended(), c.want)
		}
		p.failed = true
		if got, want := p.ended(), fmt.Sprintf("DEED_SEED=%d repeats it", c.want); got != want {
			t.Errorf("a failure logs %q, want %q", got, want)
		}
	}
}

func TestNoNumber(t *testing.T) {
	t.Setenv(Variable, "seven")
	p := &probe{}
	defer func() {
		if recover() != p || !strings.Contains(p.ended(), `"seven"`) {
			t.Errorf("the test goes on, and logs %q", p.ended())
		}
	}()
	First(p)
}

// TestRepeats checks that equal seeds and streams give equal numbers, and others do not.
func TestRepeats(t *testing.T) {
	draw := func(text string, stream int) [3]uint64 {
		t.Setenv(Variable, text)
		r := Rand(t)
		if stream > 0 {
			r = Stream(First(t), stream)
		}
		return [3]uint64{r.Uint64(), r.Uint64(), r.Uint64()}
	}
	first, stream := draw("5", 0), draw("5", 1)
	if first != draw("5", 0) || stream != draw("5", 1) {
		t.Error("a seed does not repeat its numbers")
	}
	if first == draw("6", 0) || first == stream {
		t.Error("two seeds or streams draw the same numbers")
	}
}

func TestEach(t *testing.T) {
	t.Setenv(Variable, "5")
	p := &probe{}
	if got, want := slices.Collect(Each(p, 4)), []uint64{5, 6, 7, 8}; !slices.Equal(got, want) || p.ended() != "" {
		t.Errorf("got %v and the log %q, want %v and no log", got, p.ended(), want)
	}
	for name, fail := range map[string]func(p *probe){
		"an error": func(p *probe) { p.failed = true },
		"an end":   func(p *probe) { p.Fatalf("broken") },
	} {
		p, last := &probe{}, uint64(0)
		func() {
			defer func() { _ = recover() }()
			for seed := range Each(p, 4) {
				if last = seed; seed == 6 {
					fail(p)
				}
			}
		}()
		if log := p.ended(); last != 6 || !strings.HasSuffix(log, "DEED_SEED=6 repeats it") {
			t.Errorf("with %s at seed 6, the last seed is %d and the log %q", name, last, log)
		}
	}
}
