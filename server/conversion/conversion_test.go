package conversion

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

// webhook sends fixed answers, with UID replaced by the uid of the request, and records the requests.
type webhook struct {
	*httptest.Server
	answer string
	asked  string // version of the review, wanted version, names, path
}

// ServeHTTP sends the answer.
func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Kind, APIVersion string
		Request          struct {
			UID, DesiredAPIVersion string
			Objects                []struct{ Metadata struct{ Name string } }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	h.asked = fmt.Sprint(review.Kind, " ", review.APIVersion, " ", review.Request.DesiredAPIVersion, " ", review.Request.Objects, " ", r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, strings.ReplaceAll(h.answer, "UID", review.Request.UID))
}

// ResolveEndpoint finds the webhook for the service hook.system:99, whose name is not in its certificate.
func (h *webhook) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	if at := fmt.Sprintf("%s.%s:%d", name, namespace, port); at != "hook.system:99" {
		return nil, errors.New("no service " + at)
	}
	return url.Parse(h.URL)
}

// start starts a webhook, and returns it with a client and its certificate.
func start(t *testing.T) (*webhook, *Client, string) {
	t.Helper()
	h := &webhook{}
	h.Server = httptest.NewUnstartedServer(h)
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.StartTLS()
	t.Cleanup(h.Close)
	c, err := NewClient(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw})
	return h, c, base64.StdEncoding.EncodeToString(bundle)
}

func parsed(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// definition returns a definition whose webhook is at a URL or a service, given as JSON.
func definition(t *testing.T, at, bundle, reviews string) value.Value {
	t.Helper()
	return parsed(t, fmt.Sprintf(`{"metadata":{"name":"things.g.io"},"spec":{"conversion":{"strategy":"Webhook","webhook":{
		"conversionReviewVersions":[%s],"clientConfig":{%s,"caBundle":%q}}}}}`, reviews, at, bundle))
}

// TestConvert converts an object with various answers. Of the metadata in an answer, only labels and annotations count, and null means
// none.
func TestConvert(t *testing.T) {
	h, c, bundle := start(t)
	w, err := c.Of(definition(t, fmt.Sprintf(`"url":"%s/convert"`, h.URL), bundle, `"v3","v1beta1","v1"`))
	if err != nil {
		t.Fatal(err)
	}
	const (
		beta = `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1","response":{"uid":"other","result":{"status":"Success"},"convertedObjects":[%s]}}`
		v2   = `{"apiVersion":"g.io/v2","kind":"Thing","metadata":{"name":"a","namespace":"n","uid":"u"%s},"spec":2}`
	)
	for _, c := range []struct{ answer, want string }{
		{fmt.Sprintf(beta, fmt.Sprintf(v2, `,"labels":{"c":"d"},"annotations":{"e":"f"},"finalizers":["x"]`)),
			`{"annotations":{"e":"f"},"generation":3,"labels":{"c":"d"},"name":"a","namespace":"n","uid":"u"} 2`},
		{fmt.Sprintf(beta, fmt.Sprintf(v2, `,"labels":null,"annotations":null`)), `{"generation":3,"name":"a","namespace":"n","uid":"u"} 2`},
		{fmt.Sprintf(beta, fmt.Sprintf(v2, `,"labels":{"no label!":"b"}`)), `{"generation":3,"labels":{"no label!":"b"},"name":"a","namespace":"n","uid":"u"} 2`},
		{fmt.Sprintf(beta, fmt.Sprintf(v2, `,"labels":{"no label!":"c"}`)), `webhook for g.io/v1, Kind=Thing returned invalid metadata: metadata.labels: Invalid value: "no label!"`},
		{fmt.Sprintf(beta, fmt.Sprintf(v2, `,"annotations":{"no annotation!":"c"}`)), `returned invalid metadata: metadata.annotation: Invalid value: "no annotation!"`},
		{fmt.Sprintf(beta, fmt.Sprintf(v2, `,"labels":{"d!":"","c!":"","a!":"","b!":""}`)),
			`returned invalid metadata: [metadata.labels: Invalid value: "a!"`},
		{fmt.Sprintf(beta, fmt.Sprintf(v2, `,"labels":{"a":1}`)), `returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object`},
		{fmt.Sprintf(beta, fmt.Sprintf(v2, `,"labels":1`)), `returned invalid metadata: invalid metadata.labels of type int64 in converted object`},
		{fmt.Sprintf(beta, `{"apiVersion":"g.io/v2","kind":"Thing"}`), `returned invalid object: must have the same name: a != `},
		{fmt.Sprintf(beta, strings.Replace(fmt.Sprintf(v2, ""), `"namespace":"n"`, `"namespace":"m"`, 1)), `returned invalid object: must have the same namespace: n != m`},
		{fmt.Sprintf(beta, strings.Replace(fmt.Sprintf(v2, ""), `"uid":"u"`, `"uid":"v"`, 1)), `returned invalid object: must have the same UID: u != v`},
		{fmt.Sprintf(beta, strings.Replace(fmt.Sprintf(v2, ""), `v2`, `v3`, 1)), `returned invalid object at index 0: invalid groupVersion (expected g.io/v2, received g.io/v3)`},
		{fmt.Sprintf(beta, strings.Replace(fmt.Sprintf(v2, ""), `Thing`, `Other`, 1)), `returned invalid object at index 0: invalid kind (expected Thing, received Other)`},
		{fmt.Sprintf(beta, ``), `conversion webhook for g.io/v1, Kind=Thing returned 0 objects, expected 1`},
		{fmt.Sprintf(beta, `{"apiVersion":"g.io/v2"}`), `Object 'Kind' is missing in '{"apiVersion":"g.io/v2"}'`},
		{strings.Replace(fmt.Sprintf(beta, ""), "Success", "Failure", 1), `failed: response.result.status was 'Failure', not 'Success'`},
		{strings.Replace(fmt.Sprintf(beta, ""), `"Success"`, `"Failure","message":"no"`, 1), `conversion webhook for g.io/v1, Kind=Thing failed: no`},
		{`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1beta1"}`, `failed: no response provided`},
	} {
		h.answer = c.answer
		labels := `"annotations":{"x":"y"},"labels":{"no label!":"b"}`
		out, err := w.Convert([]value.Value{parsed(t, `{"apiVersion":"g.io/v1","kind":"Thing","metadata":{"name":"a","namespace":"n","uid":"u","generation":3,`+labels+`},"spec":1}`)}, "g.io/v2")
		got := fmt.Sprint(err)
		if len(out) > 0 {
			got = fmt.Sprint(out[0].Get("metadata"), " ", out[0].Get("spec"))
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s\n gives %s\nwant %s", c.answer, got, c.want)
		}
	}
	if want := "ConversionReview apiextensions.k8s.io/v1beta1 g.io/v2 [{{a}}] /convert"; h.asked != want {
		t.Errorf("asked was %q, want %q", h.asked, want)
	}
}

// TestMetadata converts objects with and without metadata. Answers may have or lack it.
func TestMetadata(t *testing.T) {
	const none, null, number = `{"apiVersion":"g.io/v1","kind":"Thing"}`, `{"apiVersion":"g.io/v1","kind":"Thing","metadata":null}`,
		`{"apiVersion":"g.io/v1","kind":"Thing","metadata":{"labels":1}}`
	for _, c := range []struct{ object, answered, want string }{
		{none, `,"metadata":{"labels":{"a":"b"},"name":""}`, `{"labels":{"a":"b"}} <nil>`},
		{none, ``, `returned invalid metadata: missing metadata in converted object`},
		{none, `,"metadata":[]`, `returned invalid metadata: invalid metadata of type []interface {} in converted object`},
		{null, `,"metadata":{}`, `returned invalid metadata: invalid metadata of type <nil> in input object`},
		{number, `,"metadata":{}`, `{} <nil>`},
		{number, `,"metadata":{"labels":{"a":"b"}}`, `returned invalid metadata: invalid metadata.labels of type int64 in original object`},
	} {
		out, err := checked(parsed(t, c.object), parsed(t, `{"apiVersion":"g.io/v2","kind":"Thing"`+c.answered+`}`), "g.io/v2")
		if got := fmt.Sprint(out.Get("metadata"), " ", err); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s, answered with %q, gives %s, want %s", c.object, c.answered, got, c.want)
		}
	}
}

// TestReview checks that v1 answers match their request by kind, version and uid.
func TestReview(t *testing.T) {
	h, c, bundle := start(t)
	w, err := c.Of(definition(t, fmt.Sprintf(`"url":%q`, h.URL), bundle, `"v1","v1beta1"`))
	if err != nil {
		t.Fatal(err)
	}
	const good = `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","response":{"uid":"UID","result":{"status":"Success"},
		"convertedObjects":[{"apiVersion":"g.io/v2","kind":"Thing","metadata":{"name":"a"}},{"apiVersion":"g.io/v2","kind":"Thing","metadata":{"name":"b"}}]}}`
	failed := `^conversion webhook for g.io/v1, Kind=Thing failed: `
	for _, c := range []struct{ answer, want string }{
		{good, `^a b <nil>$`},
		{strings.Replace(good, `"name":"b"`, `"name":"c"`, 1), `^a conversion webhook for g.io/v1, Kind=Thing returned invalid object: must have the same name: b != c$`},
		{strings.Replace(good, "UID", "x", 1), failed + `expected response.uid="[-0-9a-f]{36}", got "x"$`},
		{strings.Replace(good, "io/v1", "io/v1beta1", 1), failed + `converting \(v1beta1.ConversionReview\) to \(v1.ConversionReview\): unknown conversion$`},
		{`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"}`, failed + `no response provided$`},
		{strings.Replace(good, "Success", "", 1), failed + `response.result.status was '', not 'Success'$`},
	} {
		h.answer = c.answer
		out, err := w.Convert([]value.Value{
			parsed(t, `{"apiVersion":"g.io/v1","kind":"Thing","metadata":{"name":"a"}}`), parsed(t, `{"apiVersion":"g.io/v1","kind":"Thing","metadata":{"name":"b"}}`),
		}, "g.io/v2")
		got := ""
		for _, object := range out {
			got += object.Get("metadata", "name").Str() + " "
		}
		if got += fmt.Sprint(err); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s\n gives %s\nwant %s", c.answer, got, c.want)
		}
	}
	if want := "ConversionReview apiextensions.k8s.io/v1 g.io/v2 [{{a}} {{b}}] /"; h.asked != want {
		t.Errorf("asked was %q, want %q", h.asked, want)
	}
	if none, err := w.Convert(nil, "g.io/v2"); none != nil || err != nil {
		t.Errorf("no objects are converted to %v: %v", none, err)
	}
}

// TestOf reads the addresses of webhooks from definitions.
func TestOf(t *testing.T) {
	h, client, bundle := start(t)
	h.answer = `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1"}`
	thing := []value.Value{parsed(t, `{"apiVersion":"g.io/v1","kind":"Thing"}`)}
	for _, c := range []struct {
		definition value.Value
		want       string
	}{
		{definition(t, `"service":{"name":"other","namespace":"system","port":99}`, bundle, `"v1"`), "no service other.system:99"},
		{definition(t, `"service":{"name":"hook","namespace":"other","port":99}`, bundle, `"v1"`), "no service hook.other:99"},
		{definition(t, `"service":{"name":"hook","namespace":"system","port":1,"path":"/here"}`, bundle, `"v1"`), "no service hook.system:1"},
		{definition(t, `"service":{"name":"hook","namespace":"system","port":99,"path":"/here"}`, bundle, `"v1"`), "not hook.system.svc"},
		{definition(t, fmt.Sprintf(`"url":%q`, h.URL), "", `"v1"`), "certificate signed by unknown authority"},
		{definition(t, fmt.Sprintf(`"url":%q`, h.URL), base64.StdEncoding.EncodeToString([]byte(" \n")), `"v1"`), "certificate signed by unknown authority"},
		{definition(t, fmt.Sprintf(`"url":%q`, h.URL), "!", `"v1"`), "spec.conversion.webhook.clientConfig.caBundle: illegal base64 data"},
		{definition(t, fmt.Sprintf(`"url":%q`, h.URL), bundle, `"v2"`), "no supported conversion review versions"},
		{definition(t, `"url":""`, bundle, `"v1"`), "conversion_webhook_for_things.g.io"},
		{definition(t, fmt.Sprintf(`"url":%q`, h.URL), bundle, `"v1"`), "no response provided"},
	} {
		w, err := client.Of(c.definition)
		if err == nil {
			_, err = w.Convert(thing, "g.io/v2")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v\n gives %v\nwant %s", c.definition.Get("spec", "conversion", "webhook", "clientConfig"), err, c.want)
		}
	}
	if w, err := client.Of(parsed(t, `{"spec":{"conversion":{"strategy":"None"}}}`)); w != nil || err != nil {
		t.Errorf("a definition without a webhook has %v: %v", w, err)
	}
}
