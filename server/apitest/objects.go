package apitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/cache"
	"github.com/deed-project/deed/server/manifest"
	"github.com/deed-project/deed/value"
)

// CRDs makes a server begin with the CustomResourceDefinitions in files and folders, such as the config/crd of a project of
// kubebuilder, and with nothing else of what is in there. It is an error if there are none.
func CRDs(names ...string) Option {
	return func(o *options) error {
		objects, err := reader.Definitions(names...)
		o.objects = append(o.objects, objects...)
		return err
	}
}

// Files makes a server begin with the objects in files, and in the YAML and JSON files below folders, but for kustomizations and
// the patches that these name. Definitions come first, then namespaces, then the rest in the order of the files.
func Files(names ...string) Option {
	return func(o *options) error {
		objects, err := reader.Read(names...)
		o.objects = append(o.objects, objects...)
		return err
	}
}

// YAML makes a server begin with the objects of a text.
func YAML(text string) Option {
	return func(o *options) error {
		objects, err := parse("", []byte(text))
		o.objects = append(o.objects, objects...)
		return err
	}
}

// texts are those that were read, which most servers of a process begin with.
var texts = cache.ByText[[]manifest.Object]{Budget: 16 << 20}

// reader reads a text once.
var reader = manifest.Reader{Parse: parse}

// parse is manifest.Parse that reads a text once, whatever the names of its files.
func parse(name string, text []byte) ([]manifest.Object, error) {
	objects, err := texts.Get(text, func() ([]manifest.Object, error) { return manifest.Parse(name, text) })
	objects = slices.Clone(objects)
	for i := range objects {
		objects[i].File = name
	}
	return objects, err
}

// Apply applies the objects of a text as kubectl apply --server-side --force-conflicts does, as manager apitest. The test fails if
// one is refused, with the words of the server.
func (s *Server) Apply(text string) {
	s.tb.Helper()
	objects, err := parse("", []byte(text))
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, object := range objects {
		if err := s.apply(object.Value); err != nil {
			s.tb.Fatalf("%s %s: %v", object.Get("kind").Str(), object.Get("metadata", "name").Str(), err)
		}
	}
}

func (s *Server) apply(object value.Value) error {
	path, err := s.PathOf(object)
	if err != nil {
		return err
	}
	url := "http://deed.invalid" + path + "?fieldManager=apitest&force=true"
	r, err := http.NewRequestWithContext(s.tb.Context(), http.MethodPatch, url, bytes.NewReader(object.AppendJSON(nil)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/apply-patch+yaml")
	answer, err := s.requests.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close() // it was read to its end
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest {
		err = refusal(answer.StatusCode, body)
	}
	return err
}

// refusal returns in words what the answer of a server that refuses a request says: its code, the message of the Status in body,
// and those causes that the message leaves out.
func refusal(code int, body []byte) error {
	text := fmt.Sprintf("%d %s: ", code, http.StatusText(code))
	var s metav1.Status
	if err := json.Unmarshal(body, &s); err != nil || s.Kind != "Status" {
		return errors.New(text + strings.TrimSpace(string(body)))
	}
	text += s.Message
	if s.Details != nil {
		for _, cause := range s.Details.Causes {
			if !strings.Contains(s.Message, cause.Message) {
				text += fmt.Sprintf("\n  %s: %s", cause.Field, cause.Message)
			}
		}
	}
	return errors.New(text)
}
