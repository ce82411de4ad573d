package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deed-project/deed/oracle/pair"
)

// campaign sends requests to both servers.
type campaign struct {
	real, deed       *peer
	seed             uint64
	requests         int
	workers          int
	kinds            string
	findings, record string
	again            string
	value            string // JSON

	bases   map[string]*pair.Base
	order   []*pair.Base // in which they were installed
	refused string       // the last base object that was not installed, and why
}

// inTemplate matches the fields of pods in other kinds. Each seed takes one of so many of these fields, as kinds share their rules.
var inTemplate = regexp.MustCompile(`(^|\.)template\.spec\.`)

const templates = 6

// run installs the base objects, sends the requests of the seed, and reports the classes of differences.
func (c *campaign) run(basesOnly bool) (classes int, err error) {
	kinds, err := c.prepare()
	if err != nil || basesOnly {
		return 0, err
	}
	p := &plan{chooser: chooser{rand.New(rand.NewPCG(c.seed, 31))}, kinds: kinds}
	for _, k := range kinds {
		for _, name := range slices.Sorted(maps.Keys(k.byField)) {
			if !inTemplate.MatchString(name) || p.IntN(templates) == 0 {
				p.fields = append(p.fields, field{k, name})
			}
		}
	}
	switch {
	case len(c.order) == 0 && c.refused == "":
		return 0, fmt.Errorf("no base object is of the kinds %q", c.kinds)
	case len(p.fields) == 0:
		return 0, fmt.Errorf("no base object is on both servers; the last one was refused: %s", c.refused)
	}
	p.next = len(p.fields)
	var fixed []request // in the place of random ones
	switch {
	case c.again != "":
		if fixed, err = readRequests(c.again); err != nil {
			return 0, err
		}
	case c.value != "":
		var v any
		if err := json.Unmarshal([]byte(c.value), &v); err != nil {
			return 0, fmt.Errorf("--value: %w", err)
		}
		fixed = p.everywhere(v)
	}
	if fixed != nil {
		c.requests = len(fixed)
	}
	all := 0
	for _, k := range kinds {
		all += len(k.byField)
	}
	fmt.Printf("%d kinds, %d base objects, %d fields, of which this seed takes %d\n", len(kinds), len(c.bases), all, len(p.fields))
	begun := time.Now()
	f := newFindings()
	if c.findings != "" {
		var file *os.File
		if file, err = os.Create(c.findings); err != nil {
			return 0, err
		}
		defer func() { err = cmp.Or(err, file.Close()) }()
		f.file = json.NewEncoder(file)
		f.file.SetEscapeHTML(false)
	}
	var group sync.WaitGroup
	queue := make(chan request, 100)
	for range c.workers {
		group.Go(func() {
			for r := range queue {
				f.add(c.sure(c.ask(r)))
			}
		})
	}
	for i := range c.requests {
		if fixed != nil {
			queue <- fixed[i]
		} else {
			queue <- p.request()
		}
	}
	close(queue)
	group.Wait()
	fmt.Printf("%d requests in %.0f s, %d of them differ; %d are refused there\n", c.requests, time.Since(begun).Seconds(), f.differ, f.refused)
	fmt.Printf("beside them, the real server panics on %d, and answers %d by chance\n", f.panics, f.chances)
	if f.err != nil {
		return 0, f.err
	}
	c.shrink(f)
	f.print()
	if c.record != "" {
		err = writeFile(c.record, func(w *json.Encoder) error { return c.recording(w, f) })
	}
	return len(f.classes), err
}

// exchange is a request with both answers.
type exchange struct {
	request
	Real pair.Answer `json:"real"`
	Deed pair.Answer `json:"deed"`

	err    error
	chance bool // the real server has several answers
}

func (c *campaign) ask(r request) exchange {
	x := exchange{request: r}
	for range 3 { // a machine that was asleep has broken connections
		if x.Real, x.err = c.send(c.real, r); x.err == nil {
			if x.Deed, x.err = c.send(c.deed, r); x.err == nil {
				break
			}
		}
	}
	return x
}

// attempts are how often both servers are asked again: two errors in random order come ten times in one order in one of 1,024 cases.
const attempts = 10

// sure asks both servers again if their answers differ, and notes whether the real one has several answers.
func (c *campaign) sure(x exchange) exchange {
	for range attempts {
		if len(x.classes()) == 0 || x.panicked() {
			break
		}
		y := c.ask(x.request)
		if y.err != nil {
			return y
		}
		if pair.Shown(x.Real) != pair.Shown(y.Real) || len(y.classes()) == 0 {
			x.chance = true
			break
		}
	}
	return x
}

// panicked reports whether the real server closed the connection without an answer.
func (x exchange) panicked() bool { return x.Real.Code == 0 }

// shrink replaces each example with two faults by one with a single fault, if that has the same difference.
func (c *campaign) shrink(f *findings) {
	for _, class := range f.classes {
		for _, e := range class.example.Edits {
			if len(class.example.Edits) < 2 {
				break
			}
			r := class.example.request
			r.Edits = []pair.Edit{e}
			if x := c.ask(r); x.err == nil && slices.Contains(x.classes(), class.name) {
				class.example = x
				break
			}
		}
	}
}

// readRequests returns the requests of a file of differences.
func readRequests(name string) ([]request, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it is only read
	var out []request
	for in := json.NewDecoder(f); in.More(); {
		var r request
		if err := in.Decode(&r); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, e := range r.Edits {
			for i, step := range e.Path {
				if n, ok := step.(float64); ok {
					e.Path[i] = int(n)
				}
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// prepare reads the base objects and what the server serves, and installs the objects on both servers.
func (c *campaign) prepare() ([]*kind, error) {
	bases, err := pair.Bases()
	if err != nil {
		return nil, err
	}
	if c.kinds != "" {
		bases = slices.DeleteFunc(bases, func(b *pair.Base) bool { return !slices.Contains(strings.Split(c.kinds, ","), b.Kind) })
	}
	c.bases = map[string]*pair.Base{}
	var kinds []*kind
	served := pair.NewDiscovery(c.real.Server)
	for _, b := range bases {
		g, err := served.Group(b.Object["apiVersion"].(string))
		if err != nil {
			return nil, err
		}
		if g.Resources[b.Kind] == "" { // an emulated release may not have the kind
			fmt.Printf("BASE %s is not served\n", b.ID)
			continue
		}
		if err := g.Locate(b); err != nil {
			return nil, err
		}
		if !c.installed(b) {
			continue
		}
		c.bases[b.ID] = b
		c.order = append(c.order, b)
		i := slices.IndexFunc(kinds, func(k *kind) bool { return k.name == g.Version+"/"+b.Kind })
		if i < 0 {
			i = len(kinds)
			kinds = append(kinds, &kind{name: g.Version + "/" + b.Kind, subresources: g.Subresources[b.Kind],
				byField: map[string][]*pair.Location{}, in: map[*pair.Location]*pair.Base{},
				places: map[*pair.Base][]*pair.Location{}, beside: map[*pair.Base]map[string][]*pair.Location{}})
		}
		kinds[i].add(b, g.Schemas)
	}
	time.Sleep(settling)
	for _, b := range c.order {
		for _, p := range [...]*peer{c.real, c.deed} {
			if a, err := p.read(b); err != nil || a.Code != http.StatusOK {
				return nil, fmt.Errorf("%s is not there any more: %v %v", b.ID, a, err)
			}
		}
	}
	return kinds, nil
}

// settling is how long a server may take to write the status of a new definition, after which updates do not conflict.
const settling = 3 * time.Second

// installed creates a base object on both servers. It tells what they do not do alike.
func (c *campaign) installed(b *pair.Base) bool {
	there, err := c.real.install(b)
	var here pair.Answer
	if err == nil {
		here, err = c.deed.install(b)
	}
	if err != nil {
		c.refused = fmt.Sprint(b.ID, ": ", err)
		fmt.Println("BASE", c.refused)
		return false
	}
	if x := (exchange{request: request{Base: b.ID, Verb: create}, Real: there, Deed: here}); len(x.classes()) > 0 || there.Code >= 300 {
		fmt.Printf("BASE %s\n  real %s\n  deed %s\n", b.ID, there, here)
	}
	if c.real.live[b.ID] == nil || c.deed.live[b.ID] == nil {
		c.refused = fmt.Sprintf("%s: there %s, here %s", b.ID, there, here)
		return false
	}
	return true
}

func (k *kind) add(b *pair.Base, all pair.Schemas) {
	k.bases = append(k.bases, b)
	k.beside[b] = map[string][]*pair.Location{}
	places := all.Locations(all.Of(b.Kind), b.Object, absentLevels)
	slices.SortStableFunc(places, func(x, y *pair.Location) int { return strings.Compare(x.Field, y.Field) })
	for _, place := range places {
		k.byField[place.Field] = append(k.byField[place.Field], place)
		k.in[place] = b
		k.places[b] = append(k.places[b], place)
		k.beside[b][parent(place.Path)] = append(k.beside[b][parent(place.Path)], place)
	}
}

// absentLevels bounds how many levels of fields below one that the base lacks get faults.
const absentLevels = 2
