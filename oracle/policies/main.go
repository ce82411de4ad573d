// Command policies records what a kube-apiserver answers to requests that admission policies match. It needs a new server with the token tok,
// and reads annotations from its audit log:
//
//	kube-apiserver … --audit-log-path=AUDIT --audit-policy-file=POLICY      (the level Metadata for all requests)
//	go run . -server https://127.0.0.1:16443 -audit AUDIT -out policies.jsonl.gz
//
// Each line of the outcome is a scenario: requests that prepare it, policies and bindings, and requests whose answers are recorded. Some
// scenarios are written by hand (written.go), the others are random (random.go).
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"
)

// scenario is a history of requests on a server with policies.
type scenario struct {
	ID       string    `json:"id"`
	Setup    []request `json:"setup,omitempty"`
	Policies []request `json:"policies"`
	Requests []request `json:"requests"`
}

// request is a request and the answer to it.
type request struct {
	Method string          `json:"method"`
	Path   string          `json:"path"` // with its query
	Type   string          `json:"type,omitempty"`
	Body   json.RawMessage `json:"body,omitempty"`

	Code        int               `json:"code"`
	Response    json.RawMessage   `json:"response,omitempty"`
	Warnings    []string          `json:"warnings,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

func main() {
	server := flag.String("server", "https://127.0.0.1:16443", "the server")
	audit := flag.String("audit", "", "the audit log of the server")
	out := flag.String("out", "../../server/testdata/policies.jsonl.gz", "where the scenarios are written to")
	seed := flag.Uint64("seed", 1, "seed of the random scenarios")
	count := flag.Int("random", 340, "number of random scenarios")
	only := flag.String("only", "", "record only scenarios whose ID begins so")
	kinds := flag.String("definitions", "../../server/testdata/policies-definitions.json", "where the definitions are written to")
	flag.Parse()
	if err := writeDefinitions(*kinds); err != nil {
		log.Fatal(err)
	}
	r := &recorder{server: *server, client: &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the certificate is made for the run
	}}}
	scenarios := written()
	g := &generator{rand.New(rand.NewPCG(*seed, 36))}
	for i := range *count {
		scenarios = append(scenarios, g.scenario(i))
	}
	if err := r.run(scenarios, *audit, *out, *only); err != nil {
		log.Fatal(err)
	}
}

// recorder sends requests to a server.
type recorder struct {
	server string
	client *http.Client
	audit  *bufio.Reader
	marked int
	active []string // paths of the policies and bindings of the last scenario
}

func (r *recorder) run(scenarios []scenario, audit, out, only string) error {
	log_, err := os.Open(audit)
	if err != nil {
		return err
	}
	defer log_.Close() // it was only read
	r.audit = bufio.NewReader(log_)
	if err := r.prepare(); err != nil {
		return err
	}
	var kept bytes.Buffer
	z := gzip.NewWriter(&kept)
	for i, s := range scenarios {
		if !strings.HasPrefix(s.ID, only) {
			continue
		}
		err := r.record(&s)
		if refused := (*refusedError)(nil); errors.As(err, &refused) { // random policies may be invalid
			log.Printf("%s is left out: %v", s.ID, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s.ID, err)
		}
		if err := json.NewEncoder(z).Encode(s); err != nil {
			return err
		}
		if i%20 == 0 {
			log.Printf("%d of %d scenarios", i, len(scenarios))
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, kept.Bytes(), 0o644)
}

// writeDefinitions writes the definitions that scenarios use.
func writeDefinitions(name string) error {
	var out []object
	for _, text := range definitions {
		definition := object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
		if err := json.Unmarshal([]byte(text), &definition); err != nil {
			return err
		}
		out = append(out, definition)
	}
	return os.WriteFile(name, []byte(text(out)+"\n"), 0o644)
}

// prepare creates the definitions, and waits until policies know them.
func (r *recorder) prepare() error {
	for _, text := range definitions {
		if err := r.must(post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", text)); err != nil {
			return err
		}
	}
	if err := r.must(post("/api/v1/namespaces", `{"metadata":{"name":"marker"}}`)); err != nil {
		return err
	}
	for _, m := range markers {
		if err := r.must(post(registration+m.policies, m.policy)); err != nil {
			return err
		}
		if err := r.must(post(registration+m.bindings, fmt.Sprintf(m.binding, "marker", "nothing"))); err != nil {
			return err
		}
	}
	time.Sleep(40 * time.Second) // kube-apiserver refreshes what it knows of definitions every thirty seconds
	return nil
}

// record records a scenario.
func (r *recorder) record(s *scenario) error {
	for _, path := range r.active {
		if err := r.must(request{Method: http.MethodDelete, Path: path}); err != nil {
			return err
		}
	}
	r.active = nil
	for i := range s.Setup {
		if err := r.send(&s.Setup[i]); err != nil {
			return err
		}
	}
	for i := range s.Policies {
		q := &s.Policies[i]
		if err := r.send(q); err != nil {
			return err
		}
		if q.Code != http.StatusCreated {
			return &refusedError{*q}
		}
		var created struct{ Metadata struct{ Name string } }
		if err := json.Unmarshal(q.Response, &created); err != nil {
			return err
		}
		r.active = append(r.active, q.Path+"/"+created.Metadata.Name)
		q.Response = nil
	}
	if err := r.settle(); err != nil {
		return err
	}
	for i := range s.Requests {
		if err := r.send(&s.Requests[i]); err != nil {
			return err
		}
		if err := r.annotations(&s.Requests[i]); err != nil {
			return err
		}
		time.Sleep(20 * time.Millisecond) // caches of namespaces and parameters follow
	}
	return nil
}

// refusedError is the error of a policy that the server refuses.
type refusedError struct{ request }

// Error returns why.
func (e *refusedError) Error() string {
	var status struct{ Message string }
	if err := json.Unmarshal(e.Response, &status); err != nil {
		return err.Error()
	}
	return status.Message
}

// settle waits until the server obeys all policies that were written before: new bindings of two markers, one for each plugin, take effect.
func (r *recorder) settle() error {
	r.marked++
	for _, m := range markers {
		name := fmt.Sprintf("marker-%d", r.marked)
		if err := r.must(post(registration+m.bindings, fmt.Sprintf(m.binding, name, name))); err != nil {
			return err
		}
		r.active = append(r.active, registration+m.bindings+"/"+name)
	}
	began := time.Now()
	for _, m := range markers {
		for {
			if time.Since(began) > time.Minute {
				return errors.New("policies do not take effect")
			}
			q := post("/api/v1/namespaces/marker/configmaps?dryRun=All", fmt.Sprintf(`{"metadata":{"name":"marker-%d"}}`, r.marked))
			if err := r.send(&q); err != nil {
				return err
			}
			if m.isMarked(q) {
				break
			}
			time.Sleep(30 * time.Millisecond)
		}
	}
	return nil
}

func (r *recorder) must(q request) error {
	if err := r.send(&q); err != nil {
		return err
	}
	if q.Code >= 300 {
		return fmt.Errorf("%s %s: %d %s", q.Method, q.Path, q.Code, q.Response)
	}
	return nil
}

// lastID is the Audit-Id of the last answer.
var lastID string

func (r *recorder) send(q *request) error {
	h, err := http.NewRequest(q.Method, r.server+q.Path, bytes.NewReader(q.Body))
	if err != nil {
		return err
	}
	h.Header.Set("Authorization", "Bearer tok")
	h.Header.Set("User-Agent", "policies")
	if q.Type != "" {
		h.Header.Set("Content-Type", q.Type)
	} else if len(q.Body) > 0 {
		h.Header.Set("Content-Type", "application/json")
	}
	answer, err := r.client.Do(h)
	if err != nil {
		return err
	}
	defer answer.Body.Close() // it was read
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	q.Code, q.Warnings, lastID = answer.StatusCode, answer.Header.Values("Warning"), answer.Header.Get("Audit-Id")
	q.Response = text
	if !json.Valid(text) {
		q.Response, err = json.Marshal(string(text))
	}
	return err
}

// others are prefixes of annotations that policies do not make.
var others = []string{"authorization.k8s.io", "pod-security.kubernetes.io", "apiserver.latency.k8s.io"}

// annotations reads the annotations of the last request from the audit log.
func (r *recorder) annotations(q *request) error {
	for began := time.Now(); time.Since(began) < 10*time.Second; {
		line, err := r.audit.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		for errors.Is(err, io.EOF) { // the line is being written
			var rest []byte
			rest, err = r.audit.ReadBytes('\n')
			line = append(line, rest...)
		}
		var event struct {
			AuditID     string
			Annotations map[string]string
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return err
		}
		if event.AuditID != lastID {
			continue
		}
		for key, text := range event.Annotations {
			if prefix, _, _ := strings.Cut(key, "/"); slices.Contains(others, prefix) {
				continue
			}
			if q.Annotations == nil {
				q.Annotations = map[string]string{}
			}
			q.Annotations[key] = text
		}
		return nil
	}
	return errors.New("the audit log lacks the request")
}

// post returns a request that creates an object.
func post(path, body string) request {
	return request{Method: http.MethodPost, Path: path, Body: json.RawMessage(body)}
}
