package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// campaign sends rounds of requests to both servers.
type campaign struct {
	real, deed *side
	seed       uint64
	requests   int
	only       int  // a round; none below 0
	multiplies bool // the requests are those of the products

	codes map[int]int
	sent  int
	found int
}

// side is a server, with what its answers have told so far and requests refer to.
type side struct {
	*pair.Server
	port     string   // of the server, which answers show
	versions []string // resource versions: of the server before the round, and after each step of its history
	token    string   // the last continue token
}

// now returns the resource version after the last step.
func (s *side) now() string { return s.versions[len(s.versions)-1] }

// version returns the resource version of the server.
func (s *side) version() (string, error) {
	a, err := s.Send(pair.Request{Method: http.MethodGet, Path: "/api/v1/namespaces/" + namespaces[0] + "/configmaps"})
	version, _ := pair.Get(a.Object, "metadata", "resourceVersion").(string)
	return version, err
}

func newSide(url string) *side {
	return &side{Server: pair.NewServer(url), port: url[strings.LastIndex(url, ":")+1:]}
}

// collection is the objects of a kind in a version.
type collection struct {
	group     *pair.Group
	kind      string
	namespace string // empty if the objects are in none
	base      *pair.Base
}

func (c collection) path() string { return c.group.Collection(c.kind, c.namespace) }

// The objects of a round have these names, and each kind has them in both namespaces.
var (
	names      = [...]string{"o-0", "o-1", "o-2", "o-3"}
	namespaces = [...]string{"requests-a", "requests-b"}
)

// perRound is how many requests a round has.
const perRound = 150

// apart has the kinds whose objects change how requests are served, or are written by controllers: a kube-apiserver writes Events about the
// addresses of services.
var apart = []string{
	"Namespace", "CustomResourceDefinition", "APIService", "FlowSchema", "PriorityLevelConfiguration", "ServiceCIDR", "IPAddress",
	"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "LimitRange", "ResourceQuota", "Event",
}

// run sends the requests of the seed.
func (c *campaign) run() error {
	for _, name := range namespaces {
		namespace := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}
		if err := c.both(pair.Request{Method: http.MethodPost, Path: "/api/v1/namespaces", Body: namespace}, http.StatusCreated, http.StatusConflict); err != nil {
			return err
		}
	}
	kinds, err := c.kinds()
	if err != nil {
		return err
	}
	c.codes = map[int]int{}
	if err := c.rounds(kinds); err != nil {
		return err
	}
	for _, code := range slices.Sorted(maps.Keys(c.codes)) {
		fmt.Printf("%6d answers %d\n", c.codes[code], code)
	}
	return nil
}

// rounds sends the requests of all rounds, or those of the products.
func (c *campaign) rounds(kinds []collection) error {
	if c.multiplies {
		return c.multiply(kinds)
	}
	shown := map[string]bool{}
	for n := range (c.requests + perRound - 1) / perRound {
		if c.only >= 0 && n != c.only {
			continue
		}
		if err := c.round(n, kinds, shown); err != nil {
			return fmt.Errorf("round %d: %w", n, err)
		}
	}
	return nil
}

// both sends a request to both servers, which must answer with one of the codes.
func (c *campaign) both(q pair.Request, codes ...int) error {
	return pair.Expect(q, codes, c.real.Server, c.deed.Server)
}

// kinds returns a collection for each base object and each version that serves it.
func (c *campaign) kinds() ([]collection, error) {
	bases, err := pair.Bases()
	if err != nil {
		return nil, err
	}
	served := pair.NewDiscovery(c.real.Server)
	var out []collection
	for _, b := range bases {
		if slices.Contains(apart, b.Kind) {
			continue
		}
		g, err := served.Group(b.Object["apiVersion"].(string))
		if err != nil {
			return nil, err
		}
		if g.Resources[b.Kind] != "" {
			out = append(out, collection{group: g, kind: b.Kind, base: b})
		}
	}
	customs, err := c.customs()
	return append(out, customs...), err
}

// populated is how many kinds have objects in a round.
const populated = 5

// round prepares objects, sends requests, and removes the objects.
func (c *campaign) round(n int, kinds []collection, shown map[string]bool) error {
	r := rand.New(rand.NewPCG(c.seed, uint64(n)))
	m := &maker{Rand: r, kinds: kinds}
	order := r.Perm(len(kinds))[:populated]
	if r.IntN(2) == 0 { // the custom resources are the last kinds
		order[0] = len(kinds) - 1 - r.IntN(3)
	}
	for _, i := range order {
		k := kinds[i]
		if slices.ContainsFunc(m.there, func(t collection) bool { return t.kind == k.kind }) {
			continue
		}
		if !k.group.Namespaced[k.kind] {
			m.there = append(m.there, k)
			continue
		}
		for _, k.namespace = range namespaces {
			m.there = append(m.there, k)
		}
	}
	for _, s := range c.sides() {
		version, err := s.version()
		if err != nil {
			return err
		}
		s.versions, s.token = []string{version}, ""
	}
	alike, err := c.history(n, m, shown)
	if err != nil {
		return err
	}
	for i := range perRound {
		if !alike {
			break
		}
		q := m.request()
		there, here, differences, err := c.ask(q)
		if err != nil {
			return fmt.Errorf("%s %s: %w", q.Method, q.Path, err)
		}
		c.sent++
		c.codes[there.Code]++
		if c.only >= 0 {
			pair.Show(fmt.Sprintf("round %d, request %d", n, i), q.Request, there, here, differences)
		}
		c.note(fmt.Sprintf("round %d, request %d", n, i), q, there, here, differences, shown)
		if len(differences) > 0 && q.writes() { // what is stored may differ from now on
			break
		}
	}
	return c.remove(m.there)
}

// note counts the differences between the answers to a request, and shows them if there were none like them.
func (c *campaign) note(title string, q request, there, here pair.Reply, differences []string, shown map[string]bool) {
	if len(differences) == 0 {
		return
	}
	c.found++
	if line := q.Method + " " + q.form + " " + pair.Alike(differences); !shown[line] && c.only < 0 {
		shown[line] = true
		pair.Show(title, q.Request, there, here, differences)
	}
}

func (c *campaign) sides() [2]*side { return [2]*side{c.real, c.deed} }

// remove deletes what is in the collections, whatever its finalizers are.
func (c *campaign) remove(all []collection) error {
	free := map[string]any{"metadata": map[string]any{"finalizers": nil}}
	for _, k := range all {
		for _, s := range c.sides() {
			a, err := s.Send(pair.Request{Method: http.MethodGet, Path: k.path()})
			if err != nil {
				return err
			}
			items, _ := pair.Get(a.Object, "items").([]any)
			for _, item := range items {
				name, _ := pair.Get(item, "metadata", "name").(string)
				if !k.group.Namespaced[k.kind] && !slices.Contains(names[:], name) && !strings.HasPrefix(name, "extra-") {
					continue // an object of the server itself
				}
				path := k.path() + "/" + name
				if list, _ := pair.Get(item, "metadata", "finalizers").([]any); len(list) > 0 {
					q := pair.Request{Method: http.MethodPatch, Path: path, ContentType: "application/merge-patch+json", Body: free}
					if _, err := s.Exchange(q); err != nil {
						return err
					}
				}
				options := "?gracePeriodSeconds=0&propagationPolicy=Background"
				if _, err := s.Exchange(pair.Request{Method: http.MethodDelete, Path: path + options}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// attempts is how often a request is sent whose answers differ.
const attempts = 10

// ask sends a request to both servers. A request that changes nothing is sent again if the answers differ: what a kube-apiserver answers may
// depend on chance, and a write of its own may end between two answers.
func (c *campaign) ask(q request) (there, here pair.Reply, differences []string, err error) {
	for range attempts {
		if there, err = c.real.ask(q); err != nil {
			return there, here, nil, err
		}
		if here, err = c.deed.ask(q); err != nil {
			return there, here, nil, err
		}
		differences = c.compare(there, here)
		if len(differences) == 0 || q.writes() && (there.Code < 400 || here.Code < 400) {
			break
		}
	}
	return there, here, differences, nil
}

// compare returns the differences between two replies, whose objects come from the same steps of the history.
func (c *campaign) compare(there, here pair.Reply) []string {
	return pair.Compare(c.real.steps(there), c.deed.steps(here))
}

// ask sends a request in which the server's own resource versions and its last token stand for their names. It keeps the token of a list.
func (s *side) ask(q request) (pair.Reply, error) {
	places := []string{"$NOW", s.now(), "$TOKEN", cmp.Or(s.token, "none")}
	for i, version := range s.versions {
		places = append(places, "$AT"+step(i), version, "$OF"+step(i), token(version, "o-1\x00"))
	}
	fill := strings.NewReplacer(places...)
	sent := q.Request
	sent.Path = fill.Replace(sent.Path)
	if body, ok := sent.Body.([]byte); ok {
		sent.Body = []byte(fill.Replace(string(body)))
	}
	reply, err := s.Exchange(sent)
	var list struct{ Metadata struct{ Continue string } }
	reply.Body = bytes.ReplaceAll(reply.Body, []byte(s.port), []byte("1"))
	if json.Unmarshal(reply.Body, &list) == nil && list.Metadata.Continue != "" {
		s.token = list.Metadata.Continue
	}
	return reply, err
}
