package auth_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// TestReview asks every kind of review, of a server that lets every user get and nothing else.
func TestReview(t *testing.T) {
	access := &auth.Access{
		Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC) },
		Authenticator: func(r *http.Request) (auth.User, error) {
			switch r.Header.Get("Authorization") {
			case "Bearer t":
				return auth.User{Name: "joe", UID: "2", Groups: []string{"devs"}, Extra: map[string][]string{"a": {"b"}}}, nil
			case "Bearer none", "Bearer  t":
				return auth.Anonymous, nil
			}
			return auth.User{}, errors.New("unknown")
		},
		Authorizer: func(_ context.Context, u auth.User, a auth.Action) (bool, string) {
			return a.Verb == "get", fmt.Sprint(u.Name, u.UID, u.Groups, " ", a)
		},
	}
	const (
		pods = `"resourceAttributes":{"namespace":"n","verb":"get","group":"g","version":"v","resource":"pods","subresource":"s","name":"x"}`
		path = `"nonResourceAttributes":{"path":"/p","verb":"post"}`
	)
	for _, c := range []struct{ kind, review, want string }{
		{"SelfSubjectReview", `{"metadata":{"name":"x"}}`,
			`{"metadata":{"creationTimestamp":"2026-01-02T03:04:05Z"},"status":{"userInfo":{"groups":["ops"],"uid":"1","username":"jane"}}}`},
		{"SelfSubjectAccessReview", `{"spec":{` + pods + `}}`, `"status":{"allowed":true,"reason":"jane1[ops] {get g v pods s n x  }"}`},
		{"SelfSubjectAccessReview", `{"spec":{` + path + `}}`, `"status":{"allowed":false,"reason":"jane1[ops] {post        /p}"}`},
		{"SelfSubjectAccessReview", `{"spec":{}}`, "spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"},
		{"SelfSubjectAccessReview", `{"spec":{` + path + `,` + pods + `}}`, `exactly one of nonResourceAttributes or resourceAttributes must be specified`},
		{"SelfSubjectAccessReview", `{"metadata":{"name":"x"},"spec":{` + path + `}}`, `metadata: Invalid value: {"name":"x"}: must be empty`},
		{"SelfSubjectAccessReview", `{"metadata":{"namespace":"x","managedFields":[]},"spec":{` + path + `}}`, `"allowed":false`},
		{"SubjectAccessReview", `{"spec":{"user":"sue","uid":"3","groups":["a"],` + pods + `}}`, `"reason":"sue3[a] {get g v pods s n x  }"`},
		{"SubjectAccessReview", `{"spec":{"groups":["a"],` + path + `}}`, `"reason":"[a] {post        /p}"`},
		{"SubjectAccessReview", `{"spec":{` + pods + `}}`, `spec.user: Invalid value: "": at least one of user or group must be specified`},
		{"LocalSubjectAccessReview", `{"spec":{"user":"sue",` + pods + `}}`, `"allowed":true`},
		{"LocalSubjectAccessReview", `{"spec":{"user":"sue",` + strings.Replace(pods, `"n"`, `"m"`, 1) + `}}`,
			`spec.resourceAttributes.namespace: Invalid value: "m": must match metadata.namespace`},
		{"LocalSubjectAccessReview", `{"spec":{"user":"sue",` + path + `}}`, `spec.nonResourceAttributes: Invalid value: {"Path":"/p","Verb":"post"}: disallowed on this kind of request`},
		{"TokenReview", `{"spec":{"token":"t"}}`,
			`"status":{"audiences":["https://kubernetes.default.svc"],"authenticated":true,"user":{"extra":{"a":["b"]},"groups":["devs"],"uid":"2","username":"joe"}}`},
		{"TokenReview", `{"spec":{"token":"t","audiences":["x","https://kubernetes.default.svc"]}}`, `"authenticated":true`},
		{"TokenReview", `{"spec":{"token":"t","audiences":["x"]}}`, `"status":{"error":"invalid bearer token","user":{}}`},
		{"TokenReview", `{"spec":{"token":"none"}}`, `"status":{"error":"invalid bearer token","user":{}}`},
		{"TokenReview", `{"spec":{"token":" t","audiences":["x"]}}`,
			`"status":{"audiences":["x"],"authenticated":true,"user":{"groups":["system:unauthenticated"],"username":"system:anonymous"}}`},
		{"TokenReview", `{"spec":{"token":"other"}}`, `"status":{"error":"invalid bearer token","user":{}}`},
		{"TokenReview", `{"spec":{}}`, "token is required for TokenReview in authentication"},
		{"TokenReview", `{"spec":{"token":1}}`, "number"},
		{"SelfSubjectRulesReview", `{"spec":{"namespace":"n"}}`,
			`{"metadata":{},"spec":{},"status":{"evaluationError":"the authorizer does not list its rules","incomplete":true,"nonResourceRules":[],"resourceRules":[]}}`},
		{"SelfSubjectRulesReview", `{"spec":{}}`, "no namespace on request"},
	} {
		resource := &catalog.Resource{Group: "authorization.k8s.io", Kind: c.kind, Namespaced: c.kind == "LocalSubjectAccessReview"}
		if got := review(t, access, resource, c.review); !strings.Contains(got, c.want) {
			t.Errorf("%s %s\n gives %s\nwant %s", c.kind, c.review, got, c.want)
		}
	}
	all := review(t, &auth.Access{}, &catalog.Resource{Kind: "SelfSubjectRulesReview"}, `{"spec":{"namespace":"n"}}`)
	if want := `"nonResourceRules":[{"nonResourceURLs":["*"],"verbs":["*"]}],"resourceRules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]`; !strings.Contains(all, want) {
		t.Errorf("without an authorizer, the rules are %s", all)
	}
	if got := review(t, &auth.Access{}, &catalog.Resource{Kind: "TokenReview"}, `{"spec":{"token":"t"}}`); !strings.Contains(got, "invalid bearer token") {
		t.Errorf("without an authenticator, a token is %s", got)
	}
}

// review returns the answer to a review that jane sends, or the error.
func review(t *testing.T, access *auth.Access, resource *catalog.Resource, text string) string {
	t.Helper()
	asked, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	jane := auth.User{Name: "jane", UID: "1", Groups: []string{"ops"}}
	out, err := access.Review(as(jane), &catalog.Version{Resource: resource, Name: "v1"}, "n", asked)
	if err != nil {
		return err.Error()
	}
	return out.String()
}
