package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/deed-project/deed/oracle/pair"
)

// campaign sends rounds of requests to both servers.
type campaign struct {
	real, deed *pair.Server
	seed       uint64
	requests   int
	only       int // a round; none below 0

	codes map[int]int
	found int
}

// perRound is how many requests a round has.
const perRound = 200

// run sends the requests of the seed.
func (c *campaign) run() error {
	for _, o := range objects() {
		if err := c.both(http.MethodPost, o.path, o.body, http.StatusCreated, http.StatusConflict); err != nil {
			return err
		}
	}
	c.codes = map[int]int{}
	shown := map[string]bool{}
	for n := range (c.requests + perRound - 1) / perRound {
		if c.only >= 0 && n != c.only {
			continue
		}
		if err := c.round(n, shown); err != nil {
			return fmt.Errorf("round %d: %w", n, err)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(c.codes)) {
		fmt.Printf("%6d answers %d\n", c.codes[code], code)
	}
	return nil
}

// both sends a request to both servers, which must answer with one of the codes.
func (c *campaign) both(method, path string, body any, codes ...int) error {
	return pair.Expect(pair.Request{Method: method, Path: path, Body: body}, codes, c.real, c.deed)
}

// settling is how long a kube-apiserver gets to see new roles: its authorizer follows them by watches.
const settling = 300 * time.Millisecond

// round makes roles and bindings, sends requests, and removes the roles and bindings.
func (c *campaign) round(n int, shown map[string]bool) error {
	m := &maker{Rand: rand.New(rand.NewPCG(c.seed, uint64(n)))}
	policy := m.policy()
	for _, o := range policy {
		if c.only >= 0 {
			fmt.Println(o.path, pair.Text(o.body))
		}
		if err := c.both(http.MethodPost, o.path, o.body, http.StatusCreated); err != nil {
			return err
		}
	}
	time.Sleep(settling)
	for i := range perRound {
		q := m.request()
		there, here, differences, err := c.ask(q)
		if err != nil {
			return fmt.Errorf("%s %s: %w", q.Method, q.Path, err)
		}
		c.codes[there.Code]++
		title := fmt.Sprintf("round %d, request %d", n, i)
		if c.only >= 0 {
			pair.Show(title, q, there, here, differences)
		}
		if len(differences) == 0 {
			continue
		}
		c.found++
		if line := q.Method + " " + pair.Alike(differences); !shown[line] && c.only < 0 {
			shown[line] = true
			pair.Show(title, q, there, here, differences)
		}
	}
	for _, o := range policy {
		name := pair.Get(o.body, "metadata", "name").(string)
		if err := c.both(http.MethodDelete, o.path+"/"+name, nil, http.StatusOK); err != nil {
			return err
		}
	}
	time.Sleep(settling)
	return nil
}

// attempts is how often a request is sent again whose answers differ. A kube-apiserver lists missing roles in random order.
const attempts = 20

// ask sends a request to both servers, and again to the real one if the answers differ: what a kube-apiserver answers may depend on chance.
func (c *campaign) ask(q pair.Request) (there, here pair.Reply, differences []string, err error) {
	if there, err = exchange(c.real, q); err != nil {
		return there, here, nil, err
	}
	if here, err = exchange(c.deed, q); err != nil {
		return there, here, nil, err
	}
	differences = pair.Compare(there, here)
	for range attempts {
		if len(differences) == 0 {
			break
		}
		again, err := exchange(c.real, q)
		if err != nil {
			return there, here, nil, err
		}
		if len(pair.Compare(again, here)) == 0 {
			return again, here, nil, nil
		}
	}
	return there, here, differences, nil
}

// exchange sends a request. The rules in the status of a SelfSubjectRulesReview come in order: a kube-apiserver lists them in a random one.
func exchange(s *pair.Server, q pair.Request) (pair.Reply, error) {
	reply, err := s.Exchange(q)
	if err != nil || reply.Code != http.StatusCreated || !strings.HasSuffix(q.Path, "/selfsubjectrulesreviews") {
		return reply, err
	}
	review, err := pair.DecodeJSON(reply.Body)
	for _, part := range [...]string{"resourceRules", "nonResourceRules"} {
		rules, _ := pair.Get(review, "status", part).([]any)
		slices.SortFunc(rules, func(a, b any) int { return strings.Compare(pair.Text(a), pair.Text(b)) })
	}
	reply.Body = []byte(pair.Text(review))
	return reply, err
}
