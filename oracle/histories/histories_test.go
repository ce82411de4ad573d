package histories

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"

	"github.com/deed-project/deed/internal/gen"
)

var seed = flag.Uint64("seed", 1, "the first history to play")

// The reference logs failed updates, of which histories have many.
func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	os.Exit(m.Run())
}

// count is how many histories to play: DEED_HISTORIES of them, 400 otherwise.
func count(t *testing.T) int {
	text := os.Getenv("DEED_HISTORIES")
	if text == "" {
		return 400
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// worlds hands out worlds, of which it keeps those that many histories can use.
type worlds struct {
	unstructured []string
	open         map[string]*World
}

// of returns the world of a history: each third is one of structs, of unstructured built-in kinds, and of custom resources.
// Ten histories in a row have the same definition of custom resources.
func (ws *worlds) of(n uint64) (*World, error) {
	var name string
	var crd []byte
	switch {
	case n%3 == 0:
		name = structWorlds[n/3%uint64(len(structWorlds))]
	case n%6 == 1:
		name = ws.unstructured[n/6%uint64(len(ws.unstructured))]
	default:
		name = fmt.Sprint("custom ", n/16)
		crd = RandomCRD(gen.Seeded(n / 16))
	}
	if w, ok := ws.open[name]; ok {
		return w, nil
	}
	w, err := Open(name, crd)
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", name, err, crd)
	}
	if crd != nil {
		ws.open = map[string]*World{}
	}
	ws.open[name] = w
	return w, nil
}

// play plays history n, and returns it as far as the engines agree.
func (ws *worlds) play(n uint64) (Script, *Difference, error) {
	w, err := ws.of(n)
	if err != nil {
		return Script{}, nil, err
	}
	s := Script{World: w.Name, CRD: w.CRD}
	p := &Player{World: w}
	c := gen.Seeded(n)
	writer := NewWriter(c, p)
	for range 20 + c.N(20) {
		op := writer.Next()
		s.Ops = append(s.Ops, op)
		if diff, err := p.Play(op); diff != nil || err != nil {
			return s, diff, err
		}
	}
	return s, nil, nil
}

// replay plays a script to its end, or to the first difference.
func replay(s Script) (*Difference, error) {
	w, err := Open(s.World, s.CRD)
	if err != nil {
		return nil, err
	}
	p := &Player{World: w}
	for _, op := range s.Ops {
		if diff, err := p.Play(op); diff != nil || err != nil {
			return diff, err
		}
	}
	return nil, nil
}

// Deed answers every write of random histories as the reference does. What differs is reduced to a script, which
// TestScripts plays from then on.
func TestHistories(t *testing.T) {
	n, workers := count(t), 2
	var writes, failures atomic.Int64
	start := time.Now()
	t.Run("play", func(t *testing.T) {
		for worker := range workers {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					names, err := Unstructured()
					if err != nil {
						t.Fatal(err)
					}
					ws := worlds{unstructured: names, open: map[string]*World{}}
					for i := *seed + uint64(n/workers*worker); i < *seed+uint64(n/workers*(worker+1)); i++ {
						s, diff, err := ws.play(i)
						writes.Add(int64(len(s.Ops)))
						if err != nil {
							t.Fatalf("history %d: %v\n%s", i, err, s.Format())
						}
						if diff != nil {
							report(t, i, s, diff)
							if failures.Add(1) >= 10 {
								return
							}
						}
					}
				})
			})
		}
	})
	t.Logf("%d histories, %d writes, %v", n, writes.Load(), time.Since(start).Round(time.Millisecond))
}

// report shrinks a script that ends in a difference, and saves it.
func report(t *testing.T, n uint64, s Script, diff *Difference) {
	s = Shrink(s, func(smaller Script) bool {
		d, err := replay(smaller)
		return err == nil && d != nil && d.Part == diff.Part
	})
	if d, err := replay(s); err == nil && d != nil {
		diff = d
	} else {
		t.Errorf("history %d differs, but not when it is played again: %v", n, err)
	}
	file := filepath.Join(t.TempDir(), fmt.Sprint(n, ".txtar"))
	if dir := os.Getenv("DEED_FAILURES"); dir != "" {
		file = filepath.Join(dir, fmt.Sprint(n, ".txtar"))
	}
	if err := os.WriteFile(file, s.Format(), 0o644); err != nil {
		t.Error(err)
	}
	t.Errorf("history %d: %v\n%s", n, diff, s.Format())
}
