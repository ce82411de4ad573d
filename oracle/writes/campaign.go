package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deed-project/deed/oracle/pair"
)

// campaign plays histories on both servers.
type campaign struct {
	real, deed *pair.Server
	seed       uint64
	requests   int
	workers    int
	kinds      string
	history    string

	hooks       *hooks // nil for none
	policies    bool
	guards      bool
	quotas      bool
	cbor        bool
	definitions int // of custom resources, which the histories are about then; 0 for built-in kinds
	changes     bool
	converters  *converters // nil for none
	predictor   *predictor  // nil for none
	kubectl     *kubectl    // nil if it takes no part

	mu    sync.Mutex // guards what follows
	codes map[string]int
	sent  int
	order int // how many refusals are in another order, or name another fault at first
	found int
}

// steps is the number of writes of a history.
const steps = 8

// run plays the histories of the seed, and returns how many of them differ.
func (c *campaign) run() (differ int, err error) {
	prepare := c.prepare
	if c.definitions > 0 {
		prepare = c.customs
	}
	kinds, err := prepare()
	if err != nil {
		return 0, err
	}
	for _, k := range kinds {
		k.cbor, k.kubectl = c.cbor, c.kubectl
	}
	c.codes = map[string]int{}
	if c.hooks != nil {
		if err := c.configure(kinds); err != nil {
			return 0, err
		}
		time.Sleep(3 * time.Second) // until a kube-apiserver uses them
	}
	if c.guards {
		if err := c.guard(kinds); err != nil {
			return 0, err
		}
		time.Sleep(3 * time.Second)
	}
	if c.quotas {
		if err := c.bind(kinds); err != nil {
			return 0, err
		}
		time.Sleep(3 * time.Second)
	}
	if c.policies {
		if err := c.govern(kinds); err != nil {
			return 0, err
		}
	}
	if name, _, _ := strings.Cut(c.history, "-"); c.history != "" {
		i := slices.IndexFunc(kinds, func(k *kind) bool { return k.name == name })
		if i < 0 {
			return 0, fmt.Errorf("no history has the name %q", c.history)
		}
		var n int
		if _, err := fmt.Sscanf(strings.TrimPrefix(c.history, name+"-"), "%d", &n); err != nil {
			return 0, fmt.Errorf("history %q: %w", c.history, err)
		}
		err := c.play(newHistory(kinds[i], c.seed, n))
		return c.found, err
	}
	rounds := (c.requests + steps*len(kinds) - 1) / (steps * len(kinds))
	var group sync.WaitGroup
	failed := make([]error, c.workers)
	for worker := range c.workers {
		group.Go(func() {
			for n := range rounds {
				for i := worker; i < len(kinds); i += c.workers { // a kind has one worker: objects of a kind may exclude each other
					if failed[worker] = c.play(newHistory(kinds[i], c.seed, n)); failed[worker] != nil {
						return
					}
				}
			}
		})
	}
	group.Wait()
	for _, op := range slices.Sorted(maps.Keys(c.codes)) {
		fmt.Printf("%6d %s\n", c.codes[op], op)
	}
	fmt.Printf("%d kinds, %d histories, %d writes; %d answers are refused in another order\n", len(kinds), rounds*len(kinds), c.sent, c.order)
	if c.predictor != nil {
		fmt.Println(c.predictor)
	}
	return c.found, errors.Join(failed...)
}

// replays are how often a history with a difference is played, each time with another object.
const replays = 3

// play plays a history until its servers differ. A difference counts only if it comes each time: whether a write has a later time than the one
// before depends on the second in which it comes.
func (c *campaign) play(h *history) error {
	for attempt := range replays {
		again := *h
		if attempt > 0 {
			again.name = fmt.Sprintf("%s-%d", h.name, attempt)
		}
		differs, err := c.playOnce(&again, attempt == 0, attempt == replays-1)
		if err != nil || !differs {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found++
	return nil
}

// playOnce plays a history until its servers differ, and removes the object. It counts the writes of the first time, and shows the difference
// of the last one.
func (c *campaign) playOnce(h *history, first, last bool) (differs bool, err error) {
	watches, err := h.watch(c.real, c.deed)
	if err != nil {
		return false, err
	}
	changes := h.changes()
	for n := range steps {
		if change := changes[n]; change != nil {
			if differs, err = c.changed(h, n, change, last); err != nil {
				return false, fmt.Errorf("%s, the change before write %d: %w", h.name, n, err)
			}
			if watches = nil; differs {
				break
			}
		}
		there, err := h.step(c.real, n)
		if err == nil && c.hooks != nil {
			c.hooks.note(&there, "there", h.kind.name)
		}
		if err == nil {
			err = c.noteQuotas(&there, c.real, h.kind)
		}
		if err != nil {
			return false, fmt.Errorf("%s, write %d, there: %w", h.name, n, err)
		}
		here, err := h.step(c.deed, n)
		if err == nil && c.hooks != nil {
			c.hooks.note(&here, "here", h.kind.name)
		}
		if err == nil {
			err = c.noteQuotas(&here, c.deed, h.kind)
		}
		if err != nil {
			return false, fmt.Errorf("%s, write %d, here: %w", h.name, n, err)
		}
		if there.answer.Code == 0 { // the real server panics
			break
		}
		differences, reordered, err := c.sure(there, here)
		if err != nil {
			return false, fmt.Errorf("%s, write %d, there again: %w", h.name, n, err)
		}
		c.forget(h.kind.name)
		if c.predictor != nil && len(differences) == 0 {
			if differences, err = c.predictor.compare(h, there); err != nil {
				return false, fmt.Errorf("%s, write %d, predicted: %w", h.name, n, err)
			}
		}
		if first {
			c.count(there, reordered)
		}
		differs = len(differences) > 0
		if first && c.history != "" || last && differs {
			c.print(h, n, there, here, differences)
		}
		if differs {
			break
		}
	}
	if !differs && len(watches) > 0 {
		there, here := outcome{op: "watch", shown: watches[0]()}, outcome{op: "watch", shown: watches[1]()}
		differences, _ := compare(there, here)
		if differs = len(differences) > 0; differs && last {
			c.print(h, steps, there, here, differences)
		}
	}
	if len(changes) > 0 {
		if err := c.restore(h.kind.definition); err != nil {
			return false, err
		}
	}
	err = cmp.Or(h.remove(c.real), h.remove(c.deed))
	c.forget(h.kind.name)
	return differs, err
}

// changed changes the definition of a history's kind before a write, and reports whether the servers differ in that. It shows the difference of
// the last time.
func (c *campaign) changed(h *history, n int, change *change, last bool) (differs bool, err error) {
	there, here, err := c.redefine(change)
	if err != nil || there.answer.Code == 0 {
		return false, err
	}
	differences, _ := compare(there, here)
	if differs = len(differences) > 0; differs && last || c.history != "" {
		c.print(h, n, there, here, differences)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.codes[fmt.Sprint(there.op, " ", there.answer.Code)]++
	return differs, nil
}

// attempts are how often a refused write is sent again.
const attempts = 20

// sure compares what came of a write. A kube-apiserver may find another one of several faults if it is asked again: a write that it refuses in the
// words of deed-apiserver at last has no difference. Nor has one whose faults it names in another order each time.
func (c *campaign) sure(there, here outcome) (differences []string, reordered bool, err error) {
	differences, reordered = compare(there, here)
	first := there.answer.Message
	for range attempts {
		if len(differences) == 0 || there.answer.Code < 400 || here.answer.Code < 400 {
			break
		}
		if there.answer, err = c.kubectl.send(c.real, there.request); err != nil {
			return nil, false, err
		}
		there.unite("there")
		if message := there.answer.Message; message != first && sorted(message) == sorted(here.answer.Message) {
			there.answer.Message = here.answer.Message
		}
		if again, _ := compare(there, here); len(again) == 0 {
			return nil, true, nil
		}
	}
	return differences, reordered, nil
}

// forget drops the calls of webhooks about a kind that no outcome has.
func (c *campaign) forget(kind string) {
	if c.hooks != nil {
		c.hooks.take("there", kind)
		c.hooks.take("here", kind)
	}
}

// count notes the outcome of a write.
func (c *campaign) count(there outcome, reordered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent++
	op := there.op
	if _, ok := there.request.Body.([]byte); ok {
		op += " as " + there.request.ContentType
	}
	c.codes[fmt.Sprint(op, " ", there.answer.Code)]++
	if reordered {
		c.order++
	}
}

// print shows a write with its differences.
func (c *campaign) print(h *history, n int, there, here outcome, differences []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := there.request
	body := pair.Text(q.Body)
	if buffers, ok := q.Body.([]byte); ok {
		decode := pair.DecodeCBOR
		if q.ContentType == pair.Protobuf {
			decode = pair.DecodeProtobuf
		}
		if text, err := decode(buffers); err == nil {
			body = string(text)
		}
	}
	fmt.Printf("%s-%d, write %d: %s\n  %s %s %s %q\n  body  %s\n  there %s\n  here  %s\n", h.kind.name, h.number, n, there.op,
		q.Method, q.Path, q.ContentType, q.UserAgent, body, there.answer, here.answer)
	for _, d := range differences {
		fmt.Println("  ", d)
	}
}
