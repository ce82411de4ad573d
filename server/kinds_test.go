package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestBuiltinKinds writes objects of built-in kinds, and reads them as a server stores them: with defaults, in every version.
func TestBuiltinKinds(t *testing.T) {
	s := widgets(t)
	const ns = "namespaces/default/"
	for _, c := range []struct {
		request, body string
		code          int
		holds         string
	}{
		{"POST " + core + ns + "configmaps" + jsonize, `{"metadata":{"name":"c"},"data":{"a":"b"}}`, 201, `"data":{"a":"b"}`},
		{"GET " + core + ns + "configmaps?fieldSelector=data.a%3Db", "", 400, `\"data.a\" is not a known field selector: only \"metadata.name\"`},
		{"POST " + core + ns + "configmaps?fieldValidation=Strict" + jsonize, `{"metadata":{"name":"d"},"dta":{}}`, 400, `unknown field \"dta\"`},
		{"POST " + core + ns + "secrets" + jsonize, `{"metadata":{"name":"s"},"stringData":{"a":"b"}}`, 201, `"data":{"a":"Yg=="}`},
		{"GET " + core + ns + "secrets?fieldSelector=type%3DOpaque", "", 200, `"name":"s"`},
		{"PATCH /apis/apps/v1/" + ns + "deployments/d?fieldManager=m" + apply, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},` +
			`"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}}}`,
			201, `"imagePullPolicy":"IfNotPresent"`},
		{"PATCH /apis/apps/v1/" + ns + "deployments/d Content-Type=application/strategic-merge-patch+json",
			`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}}}`, 200, `"image":"i:2","imagePullPolicy":"IfNotPresent"`},
		{"GET /apis/apps/v1/" + ns + "deployments/d", "", 200, `"generation":2`},
		{"PATCH /apis/apps/v1/" + ns + "deployments/d/status" + merge, `{"status":{"replicas":1},"spec":{"replicas":9}}`, 200, `"replicas":1,"revisionHistoryLimit"`},
		{"PUT /apis/coordination.k8s.io/v1/" + ns + "leases/l" + jsonize, `{"metadata":{"name":"l"},"spec":{"holderIdentity":"a"}}`, 201, `"holderIdentity":"a"`},
		{"PUT " + core + ns + "configmaps/new" + jsonize, `{"metadata":{"name":"new"}}`, 404, `configmaps \"new\" not found`},
		{"POST /apis/autoscaling/v1/" + ns + "horizontalpodautoscalers" + jsonize, `{"metadata":{"name":"h"},"spec":{"maxReplicas":2,` +
			`"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"},"targetCPUUtilizationPercentage":70}}`, 201, `"targetCPUUtilizationPercentage":70`},
		{"GET /apis/autoscaling/v2/" + ns + "horizontalpodautoscalers/h", "", 200, `"averageUtilization":70`},
		{"POST " + core + ns + "configmaps" + jsonize, `{"kind":"Nope","apiVersion":"v1","metadata":{"name":"n"}}`, 400,
			`Nope in version \"v1\" cannot be handled as a ConfigMap: no kind \"Nope\" is registered for version \"v1\"`},
		{"POST " + core + ns + "services" + jsonize, `{"metadata":{"name":"1_a"},"spec":{"ports":[{"port":80}]}}`, 422, `metadata.name: Invalid value: \"1_a\"`},
		{"DELETE " + core + ns + "configmaps/c", "", 200, `"status":"Success"`},
	} {
		w := ask(s, c.request, c.body)
		if got := w.Body.String(); w.Code != c.code || !strings.Contains(got, c.holds) {
			t.Errorf("%s %.80s\n got %d %s\nwant %d %s", c.request, c.body, w.Code, got, c.code, c.holds)
		}
	}
}

// TestOpenAPI reads the documents of all versions, and finds what kubectl looks for: that a patch of a kind takes field
// validation.
func TestOpenAPI(t *testing.T) {
	s := widgets(t)
	var list struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(ask(s, "GET /openapi/v3", "").Body.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"api/v1", "apis/apps/v1", "apis/example.org/v1"} {
		url := list.Paths[want].ServerRelativeURL
		w := ask(s, "GET "+url, "")
		if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "public, immutable" {
			t.Fatalf("%s: %s gives %d %v", want, url, w.Code, w.Header())
		}
		var document struct {
			Paths map[string]struct {
				Patch *struct {
					Parameters []struct{ Name string }
				}
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		patches := 0
		for path, item := range document.Paths {
			if item.Patch == nil {
				continue
			}
			patches++
			found := false
			for _, p := range item.Patch.Parameters {
				found = found || p.Name == "fieldValidation"
			}
			if !found {
				t.Errorf("%s: the patch of %s takes no fieldValidation", want, path)
			}
		}
		if patches == 0 {
			t.Errorf("%s describes no patch", want)
		}
		if w := ask(s, "GET /openapi/v3/"+want+"?hash=old", ""); w.Code != http.StatusMovedPermanently || w.Header().Get("Location") != url {
			t.Errorf("%s: an old hash gives %d %s", want, w.Code, w.Header().Get("Location"))
		}
	}
}
