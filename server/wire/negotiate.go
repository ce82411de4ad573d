package wire

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Media types that bodies come and go in.
const (
	JSON     = "application/json"
	YAML     = "application/yaml"
	Protobuf = "application/vnd.kubernetes.protobuf"
)

// The kinds that an answer can be converted to.
const (
	AsTable       = "Table"
	AsPartial     = "PartialObjectMetadata"
	AsPartialList = "PartialObjectMetadataList"
)

// Representation is how a client wants an answer.
type Representation struct {
	Media  string // JSON or YAML
	As     string // AsTable, AsPartial or AsPartialList; empty for the object as it is
	Of     string // the apiVersion of As
	Pretty bool   // JSON with line breaks
}

// Plain is the representation of errors that come before negotiation.
var Plain = Representation{Media: JSON, Pretty: true}

// clause is one entry of an Accept header.
type clause struct {
	typ    string
	params map[string]string
	q      float64
}

// Negotiate returns what the client wants, by the rules of kube-apiserver: clauses in the order of their weight, then in their
// own; parameters that are not known mean nothing; an empty header, */* and application/* are JSON. convert is whether the path
// offers to convert its answers. The error is a 406.
func Negotiate(r *http.Request, convert bool) (Representation, error) {
	for _, c := range clauses(r.Header.Get("Accept")) {
		rep, ok := c.representation(r)
		if ok && (rep.As == "" || convert) {
			return rep, nil
		}
	}
	return Plain, notAcceptable(JSON, YAML, Protobuf)
}

// NegotiateWatch is Negotiate for a stream of events, which are JSON only.
func NegotiateWatch(r *http.Request) (Representation, error) {
	for _, c := range clauses(r.Header.Get("Accept")) {
		if rep, ok := c.representation(r); ok && rep.Media == JSON {
			rep.Pretty = false
			return rep, nil
		}
	}
	return Plain, notAcceptable(JSON+";stream=watch", Protobuf+";stream=watch")
}

func notAcceptable(types ...string) error {
	return &mediaError{
		code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable,
		message: "only the following media types are accepted: " + strings.Join(types, ", "),
	}
}

// clauses parses an Accept header.
func clauses(header string) []clause {
	if strings.TrimSpace(header) == "" {
		return []clause{{typ: JSON}}
	}
	var out []clause
	for part := range strings.SplitSeq(header, ",") {
		typ, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		c := clause{typ: typ, params: params, q: 1}
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			c.q = q
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b clause) int {
		switch {
		case a.q > b.q:
			return -1
		case a.q < b.q:
			return 1
		}
		return 0
	})
	return out
}

// representation returns what c asks for, and whether it can be had.
func (c clause) representation(r *http.Request) (Representation, bool) {
	rep := Representation{}
	switch c.typ {
	case JSON, "*/*", "application/*":
		rep.Media = JSON
	case YAML:
		rep.Media = YAML
	default:
		return rep, false
	}
	rep.Pretty = rep.Media == JSON && pretty(r, c.params)
	as, asked := c.params["as"]
	if !asked {
		return rep, true
	}
	version := c.params["v"]
	known := as == AsTable || as == AsPartial || as == AsPartialList
	if !known || c.params["g"] != metav1.GroupName || version != "v1" && version != "v1beta1" {
		return rep, false
	}
	rep.As, rep.Of = as, metav1.GroupName+"/"+version
	return rep, true
}

// pretty reports whether JSON is printed with line breaks: when the query or the clause says so, or else when a person's
// program asks.
func pretty(r *http.Request, params map[string]string) bool {
	if r.URL.RawQuery != "" {
		if values, asked := r.URL.Query()["pretty"]; asked {
			return values[0] == "1" || values[0] == "true"
		}
	}
	if p, asked := params["pretty"]; asked {
		return p == "1" || p == "true"
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}
