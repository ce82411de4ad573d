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
	CBOR     = "application/cbor"
	// CBORSequence is the media type of streams of events in CBOR.
	CBORSequence = "application/cbor-seq"
)

// The kinds that an answer can be converted to.
const (
	AsTable       = "Table"
	AsPartial     = "PartialObjectMetadata"
	AsPartialList = "PartialObjectMetadataList"
)

// Representation is how a client wants an answer.
type Representation struct {
	Media  string // JSON, YAML, Protobuf or CBOR
	Params string // of the media type, as the answer repeats them
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

// ContentType returns the media type of an answer, as its header names it.
func (rep Representation) ContentType() string { return rep.Media + rep.Params }

// Offer says which representations a path has for its answers, beside JSON and YAML.
type Offer struct {
	Convert  bool // as Tables and as metadata only
	Protobuf bool // the documents themselves in protocol buffers; metadata can always be had so
	CBOR     bool // the server speaks CBOR
	Routed   bool // the path is one of a table of routes, which refuses media types that it never heard of in its own words
	Listed   bool // the path is that of a list, which could be watched
}

// Negotiate returns what the client wants, by the rules of kube-apiserver: clauses in the order of their weight, then in their
// own; parameters that are not known mean nothing; an empty header, */* and application/* are JSON. The error is a 406.
func Negotiate(r *http.Request, o Offer) (Representation, error) {
	all := clauses(r.Header.Get("Accept"))
	for _, c := range all {
		rep, ok := c.representation(r)
		if ok && o.has(rep) && rep.Media != CBORSequence {
			return rep, nil
		}
	}
	if o.Routed && !slices.ContainsFunc(all, o.heardOf) {
		if o.Listed {
			return Plain, notRouted(append(o.types(), o.streams()...))
		}
		return Plain, notRouted(o.types())
	}
	return Plain, notAcceptable(o.types()...)
}

// has reports whether an answer can be had as rep.
func (o Offer) has(rep Representation) bool {
	switch {
	case rep.As != "" && !o.Convert:
		return false
	case rep.Media == Protobuf:
		return rep.As == "" && o.Protobuf || rep.As == AsPartial || rep.As == AsPartialList
	case rep.Media == CBOR || rep.Media == CBORSequence:
		return o.CBOR
	}
	return true
}

// types returns the media types that a refusal lists: protobuf among them, even where it is not to be had.
func (o Offer) types() []string {
	if o.CBOR {
		return []string{JSON, YAML, Protobuf, CBOR}
	}
	return []string{JSON, YAML, Protobuf}
}

// NegotiateStatus returns how the client wants a Status: as what it accepts first, whatever the path offers; as indented JSON if
// that is nothing.
func NegotiateStatus(r *http.Request, o Offer) Representation {
	rep, err := Negotiate(r, Offer{Protobuf: true, CBOR: o.CBOR})
	if err != nil {
		return Plain
	}
	return rep
}

// NegotiateWatch is Negotiate for a stream of events, which YAML has none of.
func NegotiateWatch(r *http.Request, o Offer) (Representation, error) {
	all := clauses(r.Header.Get("Accept"))
	for _, c := range all {
		rep, ok := c.representation(r)
		if !ok || !o.has(rep) {
			continue
		}
		if rep.Media == YAML {
			return Plain, notAcceptable(o.streams()...)
		}
		if rep.Media == CBORSequence {
			rep.Media = CBOR
		}
		rep.Pretty = false
		return rep, nil
	}
	if o.Routed && !slices.ContainsFunc(all, o.heardOf) {
		return Plain, notRouted(append(o.types(), o.streams()...))
	}
	return Plain, notAcceptable(o.types()...)
}

// streams returns the media types of streams that a refusal lists.
func (o Offer) streams() []string {
	out := []string{JSON + ";stream=watch", Protobuf + ";stream=watch"}
	if o.CBOR {
		out = append(out, CBORSequence)
	}
	return out
}

// NegotiateJSON is Negotiate for a document that there is as JSON only, whatever is asked for beside that.
func NegotiateJSON(r *http.Request) (Representation, error) {
	for _, c := range clauses(r.Header.Get("Accept")) {
		if c.typ == JSON || c.typ == "*/*" || c.typ == "application/*" {
			return Representation{Media: JSON, Pretty: pretty(r, c.params)}, nil
		}
	}
	return Plain, notRouted([]string{JSON})
}

// notRouted is the 406 of a table of routes, for a path that is answered in the given media types.
func notRouted(types []string) error {
	return newRouted(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+strings.Join(types, ", "))
}

func notAcceptable(types ...string) error {
	return &mediaError{
		code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable,
		message: "only the following media types are accepted: " + strings.Join(types, ", "),
	}
}

// plainClauses are those of most clients that ask for JSON. Nobody may modify them.
var plainClauses = []clause{{typ: JSON, q: 1}}

// clauses parses an Accept header.
func clauses(header string) []clause {
	switch strings.TrimSpace(header) {
	case "", JSON:
		return plainClauses
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
	case YAML, Protobuf, CBOR, CBORSequence:
		rep.Media = c.typ
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

// heardOf reports whether c names a media type that a table of routes has.
func (o Offer) heardOf(c clause) bool {
	return c.typ == "*/*" || c.typ == "application/*" || slices.Contains(o.types(), c.typ) || o.CBOR && c.typ == CBORSequence
}

// pretty reports whether JSON is printed with line breaks: when the query or the clause says so, or else when a person's
// program asks.
func pretty(r *http.Request, params map[string]string) bool {
	if strings.Contains(r.URL.RawQuery, "%") || strings.Contains(r.URL.RawQuery, "pretty") {
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
