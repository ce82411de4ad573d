// Command bench measures apimachinery's field manager, with whatever is linked in the place of structured-merge-diff: an update and an
// apply that change one label, on objects as Go structs and unstructured. It prints, for each row, what one call costs.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/deed-project/deed/oracle/bench/fixture"
	"github.com/deed-project/deed/oracle/peer"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
)

// Row is what one call costs.
type Row struct {
	Name   string
	Nanos  float64 // of CPU
	Bytes  float64
	Allocs float64
}

func main() {
	least := flag.Duration("for", 300*time.Millisecond, "how much CPU to spend on each row")
	flag.Parse()
	if err := run(*least); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(least time.Duration) error {
	out := json.NewEncoder(os.Stdout)
	for _, kind := range []struct {
		kind   fixture.Kind
		object any
	}{
		{fixture.BuiltIn("v1", "Pod"), fixture.Pod()},
		{fixture.BuiltIn("v1", "Node"), fixture.Node()},
		{fixture.BuiltIn("apps/v1", "Deployment"), fixture.Deployment()},
	} {
		story, err := fixture.Tell(kind.kind, kind.object, fixture.Managers{Updaters: 2, Appliers: 2})
		if err != nil {
			return err
		}
		for _, structs := range []bool{true, false} {
			rows, err := calls(story, structs)
			if err != nil {
				return err
			}
			for _, r := range rows {
				row, err := measure(r.call, least)
				if err != nil {
					return fmt.Errorf("%s: %w", r.name, err)
				}
				row.Name = r.name
				if err := out.Encode(row); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

type call struct {
	name string
	call func() error
}

// calls returns the calls of a story. The objects are decoded before anything is measured: the field manager copies what it changes.
func calls(story *fixture.Story, structs bool) ([]call, error) {
	p, err := story.Kind.Peer(structs)
	if err != nil {
		return nil, err
	}
	unstructured, err := story.Kind.Peer(false)
	if err != nil {
		return nil, err
	}
	decode := func(p *peer.Peer, text []byte) (obj apiruntime.Object) {
		if err == nil {
			obj, err = p.Decode(text)
		}
		return obj
	}
	live, updated := decode(p, story.Live), decode(p, story.Updated)
	config, changed := decode(unstructured, story.Config), decode(unstructured, story.Changed)
	if err != nil {
		return nil, err
	}
	form := "unstructured"
	if structs {
		form = "structs"
	}
	name := func(what string) string { return fmt.Sprintf("%s/%s/%s", story.Kind.GVK.Kind, form, what) }
	m := p.Manager()
	return []call{
		{name("update"), func() error {
			_, err := m.Update(live.DeepCopyObject(), updated.DeepCopyObject(), fixture.Creator)
			return err
		}},
		{name("apply"), func() error {
			_, err := m.Apply(live.DeepCopyObject(), changed.DeepCopyObject(), fixture.Applier, true)
			return err
		}},
		{name("apply-noop"), func() error {
			_, err := m.Apply(live.DeepCopyObject(), config.DeepCopyObject(), fixture.Applier, true)
			return err
		}},
		{name("copies"), func() error {
			live.DeepCopyObject()
			updated.DeepCopyObject()
			return nil
		}},
	}, nil
}

// measure repeats f until that took so much CPU.
func measure(f func() error, least time.Duration) (Row, error) {
	for range 20 {
		if err := f(); err != nil {
			return Row{}, err
		}
	}
	for n := 20; ; n *= 2 {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := cpu()
		for range n {
			if err := f(); err != nil {
				return Row{}, err
			}
		}
		spent := cpu() - start
		runtime.ReadMemStats(&after)
		if spent < least {
			continue
		}
		per := func(x uint64) float64 { return float64(x) / float64(n) }
		return Row{
			Nanos: float64(spent) / float64(n), Bytes: per(after.TotalAlloc - before.TotalAlloc), Allocs: per(after.Mallocs - before.Mallocs),
		}, nil
	}
}

// cpu returns how much CPU the process has used, in user mode.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano())
}
