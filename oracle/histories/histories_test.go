package histories

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/oracle/peer"
)

// TestMain silences the reference, which logs failed updates.
func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{})
	os.Exit(m.Run())
}

// few is the default number of histories. All events occur in them.
const few = 300

// count returns the number of histories: DEED_HISTORIES, or few.
func count(t *testing.T) uint64 {
	text := os.Getenv("DEED_HISTORIES")
	if text == "" {
		return few
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// worlds opens worlds, and caches those that many histories use.
type worlds struct {
	unstructured []string
	open         map[string]*World
	happened     map[string]int
}

// events are what histories must reach: each must occur in a run. An event with a colon is the begin of a status message. The others occur
// in the managed fields of an answer without a status.
var events = []string{
	"409:Apply failed with 1 conflict: ", "409:Apply failed with 2 conflicts: ", "400:invalid object type: ",
	"400:metadata.managedFields must be nil", "500:failed to decode managed fields: ", "500:failed to create typed patch object ",
	"500:failed to create typed live object ", "500:failed to update ManagedFields ", "500:failed to convert new object ",
	"500:failed to create manager for existing fields: ", "500:failed to prune fields: ",
	"ancient-changes", "before-first-apply", `"subresource":"status"`, `"subresource":"resize"`, "unknown", "autoscaling/v1",
	"apps/v1beta2", "deed.example.org/v2", "null",
}

// observe notes the events of an answer.
func (ws *worlds) observe(_ Op, a peer.Answer) {
	var status metav1.Status
	if a.Err != nil && json.Unmarshal(a.Status, &status) != nil {
		return
	}
	text := fmt.Sprintf("%d:%s", status.Code, status.Message)
	for _, e := range events {
		if a.Err != nil && strings.HasPrefix(text, e) || a.Err == nil && bytes.Contains(a.Entries, []byte(e)) {
			ws.happened[e]++
		}
	}
}

// of returns the world of a history. A third are worlds of structs, of unstructured built-in kinds, and of custom resources each. Ten
// consecutive histories share the definition of custom resources.
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

// play plays history n, and returns it up to the first difference.
func (ws *worlds) play(n uint64) (Script, *Difference, error) {
	w, err := ws.of(n)
	if err != nil {
		return Script{}, nil, err
	}
	s := Script{World: w.Name, CRD: w.CRD}
	p := &Player{World: w, Observe: ws.observe}
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

// newWorlds returns worlds, none of which is open.
func newWorlds(t *testing.T) *worlds {
	names, err := Unstructured()
	if err != nil {
		t.Fatal(err)
	}
	return &worlds{unstructured: names, open: map[string]*World{}, happened: map[string]int{}}
}

// TestHistories checks that deed answers every write of random histories like the reference. A difference is shrunk to a script, which
// TestScripts plays from then on. DEED_FAILURES names a directory for the script.
func TestHistories(t *testing.T) {
	first, n, workers := seeds.First(t), count(t), uint64(2)
	start := time.Now()
	all := make([]*worlds, workers)
	writes := make([]int, workers)
	t.Run("play", func(t *testing.T) {
		for i := range workers {
			all[i] = newWorlds(t)
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					writes[i] = playAll(t, all[i], first+n/workers*i, first+n/workers*(i+1))
				})
			})
		}
	})
	t.Logf("%d histories, %d writes, %v", n, writes[0]+writes[1], time.Since(start).Round(time.Millisecond))
	for _, e := range events {
		if happened := all[0].happened[e] + all[1].happened[e]; happened == 0 && n >= few {
			t.Errorf("in no history there is %q", e)
		} else {
			t.Logf("%7d %s", happened, e)
		}
	}
}

// playAll plays the histories from first to before end, and returns the number of writes.
func playAll(t *testing.T, ws *worlds, first, end uint64) (writes int) {
	for n, failures := first, 0; n < end && failures < 10; n++ {
		s, diff, err := ws.play(n)
		writes += len(s.Ops)
		if err != nil {
			t.Fatalf("history %d: %v\n%s", n, err, s.Format())
		}
		if diff != nil {
			report(t, n, s, diff)
			failures++
		}
	}
	return writes
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

// TestDefer checks that writes whose check is deferred have answers that equal the reference's, and that another answer is a difference.
func TestDefer(t *testing.T) {
	ws, checked := newWorlds(t), 0
	synctest.Test(t, func(t *testing.T) {
		for n := range uint64(30) {
			w, err := ws.of(n*6 + 1)
			if err != nil {
				t.Fatal(err)
			}
			p, other := &Player{World: w}, peer.Answer{}
			p.Defer = func(x Exchange) {
				e, err := x.World.at(x.Endpoint)
				if err != nil {
					t.Fatal(err)
				}
				_, diff := p.agree(e, x.Op, x.Deed)
				if diff != nil {
					t.Fatalf("%v", diff)
				}
				if text := p.live(x.Op); !bytes.Equal(text, x.Live) || !x.Time.Equal(time.Now()) {
					t.Fatalf("the exchange has the object %s at %v", x.Live, x.Time)
				}
				if !bytes.Equal(other.Object, x.Deed.Object) && p.Check(x, other) == nil {
					t.Fatalf("%s equals %s", other.Object, x.Deed.Object)
				}
				other, checked = x.Deed, checked+1
			}
			writer := NewWriter(gen.Seeded(n), p)
			for range 10 {
				if _, err := p.Play(writer.Next()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	if checked < 200 {
		t.Errorf("%d writes were checked", checked)
	}
}
