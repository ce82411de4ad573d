package audit_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	auditapi "k8s.io/apiserver/pkg/apis/audit"

	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/value"
)

// bodies is a sink that keeps the last bodies.
type bodies struct{ sent, answer string }

func (b *bodies) ProcessEvents(events ...*auditapi.Event) bool {
	for _, e := range events {
		*b = bodies{}
		if e.RequestObject != nil {
			b.sent = string(e.RequestObject.Raw)
		}
		if e.ResponseObject != nil {
			b.answer = string(e.ResponseObject.Raw)
		}
	}
	return true
}

// TestOmitManagedFields takes managed fields out of objects, lists and Tables, and nothing else.
func TestOmitManagedFields(t *testing.T) {
	var to bodies
	recorder, err := audit.NewRecorder([]byte(`{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitManagedFields": true, "rules": [{"level": "RequestResponse"}]}`), &to)
	if err != nil {
		t.Fatal(err)
	}
	const with = `{"metadata":{"managedFields":[{}],"name":"a"}}`
	without := strings.ReplaceAll(with, `"managedFields":[{}],`, "")
	for _, text := range []string{with, `{"items":[` + with + `,1]}`, `{"rows":[{"cells":[1],"object":` + with + `},{"cells":[]}]}`, `{"data":` + with + `}`, `[1]`} {
		n := recorder.Begin(httptest.NewRequest(http.MethodGet, "/", nil), auth.Action{Verb: "get", Path: "/"}, auth.User{Name: "a"}, "id")
		append := func(b []byte) []byte { return append(b, text...) }
		n.Send(value.Value{}, append)
		n.Answer(nil, append)
		n.Complete(false)
		want := strings.ReplaceAll(text, with, without)
		if strings.HasPrefix(text, `{"data"`) {
			want = text
		}
		if to.sent != want || to.answer != want {
			t.Errorf("%s: sent %s, answered %s", text, to.sent, to.answer)
		}
	}
}

// TestPolicies reads policies, and refuses what is none.
func TestPolicies(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "unknown group version",
		"apiVersion: v1\nkind: Pod\n": "failed decoding",
		"apiVersion: audit.k8s.io/v1\nkind: Policy\n":                        "loaded illegal policy with 0 rules",
		"apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: All}]\n": "Unsupported value",
	} {
		if _, err := audit.NewRecorder([]byte(text), &bodies{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestUnrecorded calls the methods of a record that does not exist.
func TestUnrecorded(t *testing.T) {
	var none *audit.Recorder
	n := none.Begin(nil, auth.Action{}, auth.User{}, "")
	n.Impersonate(auth.User{}, "")
	n.Annotate("a", "b")
	n.Deprecate("")
	n.Send(value.Value{}, nil)
	n.SendPatch(nil)
	n.Answer(nil, nil)
	n.Begin(http.StatusOK, true)
	n.Panic("")
	n.Complete(true)
	if n != nil || n.WantsBody() || n.WantsAnswer() || !n.Receive() {
		t.Error("a request is recorded without a recorder")
	}
}
