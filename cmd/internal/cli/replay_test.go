package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/deed-project/deed/internal/testing/replays"
	"github.com/deed-project/deed/internal/testing/seeds"
	"github.com/deed-project/deed/server/apitest"
)

// replayedStep is a step of a history, and what deed replay prints about it.
type replayedStep struct {
	Manager, Operation, Subresource string
	Force                           bool
	Object, Patch                   map[string]any
	Result                          string
	Conflicts                       []struct{ Owners []any } // by field
}

// conflicts counts the conflicts as the server does, by field and owner.
func (s *replayedStep) conflicts() int {
	n := 0
	for _, c := range s.Conflicts {
		n += len(c.Owners)
	}
	return n
}

// TestReplayIsServed compares what deed replay prints with the answers of a server to the same writes: which of them conflict over how many
// fields, and the objects with their owners. A step that the server's validation refuses ends the comparison of its history.
func TestReplayIsServed(t *testing.T) {
	s := apitest.Start(t)
	s.Apply("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
	compared, refused := 0, 0
	for seed := range seeds.Each(t, 60) {
		text := replays.Deployment(seeds.Stream(seed, 0))
		var out, messages bytes.Buffer
		Run([]string{"replay", "-f", "-", "-o", "json"}, strings.NewReader(text), &out, &messages)
		var printed, history struct{ Steps []*replayedStep }
		if err := json.Unmarshal(out.Bytes(), &printed); err != nil {
			t.Fatalf("%v\n%s%s", err, &messages, &out)
		}
		if err := yaml.Unmarshal([]byte(text), &history); err != nil {
			t.Fatal(err)
		}
		const deployment = "/apis/apps/v1/namespaces/shop/deployments/web"
		for i, step := range history.Steps {
			code, answer := step.send(t, s, deployment)
			if code == http.StatusUnprocessableEntity {
				if !strings.Contains(messages.String(), "(the server's validation refuses this") {
					t.Errorf("step %d: deed replay does not say that it is refused: %v", i+1, answer["message"])
				}
				refused++
				break
			}
			compared++
			got := printed.Steps[i]
			if code == http.StatusConflict {
				if details, _ := answer["details"].(map[string]any); got.Result != "conflict" || got.conflicts() != len(details["causes"].([]any)) {
					t.Errorf("step %d: %s with %d conflicts, and the server has %v", i+1, got.Result, got.conflicts(), answer["message"])
				}
			}
			_, stored := request(t, s, http.MethodGet, "", deployment, nil)
			if got, want := comparison(got.Object), comparison(stored); got != want {
				t.Errorf("step %d: the object is\n%s\nand on the server\n%s", i+1, got, want)
			}
		}
		if t.Failed() {
			t.Log(text)
		}
		request(t, s, http.MethodDelete, "", deployment, nil)
	}
	t.Logf("%d steps are equal, and %d are refused by the validation", compared, refused)
	if !t.Failed() && compared < 4*refused {
		t.Error("most histories end too early to show anything")
	}
}

// send sends the write of a step about the object at path.
func (s *replayedStep) send(t *testing.T, server *apitest.Server, path string) (int, map[string]any) {
	t.Helper()
	method, media, body := http.MethodPatch, "application/apply-patch+yaml", s.Object
	if s.Operation == "update" {
		media, body = "application/merge-patch+json", s.Patch
	}
	query := fmt.Sprintf("?fieldManager=%s", s.Manager)
	if s.Force {
		query += "&force=true"
	}
	if s.Subresource == "scale" {
		body = map[string]any{"spec": map[string]any{"replicas": body["spec"].(map[string]any)["replicas"]}}
		if s.Operation != "update" {
			body["apiVersion"], body["kind"], body["metadata"] = "autoscaling/v1", "Scale", s.Object["metadata"]
		}
	}
	if s.Subresource != "" {
		path += "/" + s.Subresource
	}
	return request(t, server, method, media, path+query, body)
}

// request sends a request, and returns the status of the answer and its object.
func request(t *testing.T, server *apitest.Server, method, media, path string, body any) (int, map[string]any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "https://server"+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", media)
	answer, err := server.Transport().RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
	return answer.StatusCode, out
}

// comparison returns object without what only a server sets, as text. Its managed fields have no times, and are in the order of their texts:
// a server puts older ones first.
func comparison(object map[string]any) string {
	metadata := maps.Clone(object["metadata"].(map[string]any))
	var entries []string
	managed, _ := metadata["managedFields"].([]any)
	for _, e := range managed {
		entry := maps.Clone(e.(map[string]any))
		delete(entry, "time")
		entries = append(entries, fmt.Sprint(entry))
	}
	slices.Sort(entries)
	for _, name := range []string{"managedFields", "uid", "resourceVersion", "creationTimestamp"} {
		delete(metadata, name)
	}
	out := maps.Clone(object)
	out["metadata"] = metadata
	return fmt.Sprint(out, "\n", strings.Join(entries, "\n"))
}
