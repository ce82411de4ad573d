package wire

import (
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Media types of bodies and answers.
const (
	JSON     = "application/json"
	YAML     = "application/yaml"
	Protobuf = "application/vnd.kubernetes.protobuf"
	CBOR     = "application/cbor"
	// CBORSequence is the media type of a stream of events in CBOR.
	CBORSequence = "application/cbor-seq"
)

// Kinds that a response can be converted to.
const (
	AsTable       = "Table"
	AsPartial     = "PartialObjectMetadata"
	AsPartialList = "PartialObjectMetadataList"
)

// Representation is the encoding of a response that a client wants.
type Representation struct {
	Media  string // JSON, YAML, Protobuf or CBOR
	Params string // of the media type, as the response repeats them
	As     string // AsTable, AsPartial or AsPartialList; empty for the object as it is
	Of     string // the apiVersion of As
	Pretty bool   // JSON with line breaks
}

// Plain is the representation of errors that precede negotiation.
var Plain = Representation{Media: JSON, Pretty: true}

// clause is one entry of an Accept header.
//
// q is the weight: 1 without one, and 0 for one that is no number.
type clause struct {
	typ    string
	params map[string]string
	q      float64
}

// ContentType returns the Content-Type of a response.
func (rep Representation) ContentType() string { return rep.Media + rep.Params }

// plainText is the media type of logs.
const plainText = "text/plain"

// Offer lists the representations that a path offers in addition to JSON and YAML.
type Offer struct {
	Convert  bool // Tables and PartialObjectMetadata
	NoTables bool // of these, only PartialObjectMetadata
	Protobuf bool // whole objects in protobuf; metadata in protobuf is always available
	CBOR     bool // the server supports CBOR
	Routed   bool // the path belongs to kube-apiserver's router, which refuses unknown media types with its own text
	Text     bool // the router knows text/plain, too
	Listed   bool // the path is a list, which a client can also watch
}

// Negotiate returns the representation that the client wants, by the rules of kube-apiserver. It tries the clauses of the Accept header by
// descending weight, then in their order. It ignores unknown parameters. An empty header, */* and application/* mean JSON, but the router
// does not know application/*. The error is a 406.
//
//	Accept                                                 outcome
//	application/json;as=Table;v=v1;g=meta.k8s.io,*/*       a Table, or JSON where the path offers no Tables
//	application/yaml;q=0.5,application/json                JSON
//	text/html                                              406
//
// A path of the router is checked twice: by the router, which looks at types alone, and then with the parameters.
func Negotiate(r *http.Request, o Offer) (Representation, error) {
	header := r.Header.Get("Accept")
	if o.Routed && !routes(header, o.known) {
		if o.Listed {
			return Plain, notRouted(append(o.types(), o.streams()...))
		}
		if o.Text {
			return Plain, notRouted(append([]string{plainText}, o.types()...))
		}
		return Plain, notRouted(o.types())
	}
	for _, c := range clauses(header) {
		rep, ok := c.representation(r)
		if ok && o.has(rep) && o.permits(c) {
			return rep, nil
		}
	}
	return Plain, notAcceptable(o.types()...)
}

// has reports whether o contains rep.
func (o Offer) has(rep Representation) bool {
	switch {
	case rep.As != "" && !o.Convert, rep.As == AsTable && o.NoTables:
		return false
	case rep.Media == Protobuf:
		return rep.As == "" && o.Protobuf || rep.As == AsPartial || rep.As == AsPartialList
	case rep.Media == CBOR:
		return o.CBOR && rep.As != AsTable
	}
	return true
}

// permits reports whether a path with the offer takes the parameters of c that ask for a stream, or for a version of the server: the only
// stream is that of a watch, which YAML has not. Only paths that convert objects have a version.
func (o Offer) permits(c clause) bool {
	stream, version := c.params["stream"], c.params["sv"]
	return (stream == "" || stream == "watch" && c.typ != YAML) && (version == "" || version == "v1" && o.Convert)
}

// types returns the media types that a refusal lists. It always contains protobuf, even where the path does not offer it.
func (o Offer) types() []string {
	if o.CBOR {
		return []string{JSON, YAML, Protobuf, CBOR}
	}
	return []string{JSON, YAML, Protobuf}
}

// NegotiateStatus returns the representation of a Status: the first that the client accepts, whatever the path offers. It returns [Plain]
// and an error if the server supports none of them.
func NegotiateStatus(r *http.Request, o Offer) (Representation, error) {
	rep, err := Negotiate(r, Offer{Protobuf: true, CBOR: o.CBOR})
	if err != nil {
		return Plain, err
	}
	return rep, nil
}

// NegotiateWatch is Negotiate for a stream of events. It accepts YAML, which has no streams: see [Representation.Streams].
func NegotiateWatch(r *http.Request, o Offer) (Representation, error) {
	header := r.Header.Get("Accept")
	o.Listed = true
	if o.Routed && !routes(header, o.known) {
		return Plain, notRouted(append(o.types(), o.streams()...))
	}
	for _, c := range clauses(header) {
		rep, ok := c.representation(r)
		if !ok || !o.has(rep) || !o.permits(c) {
			continue
		}
		rep.Pretty = false
		return rep, nil
	}
	return Plain, notAcceptable(o.types()...)
}

// Streams refuses, with 406, a representation that has no streams: kube-apiserver does that once the options of the watch are valid.
func (rep Representation) Streams(o Offer) error {
	if rep.Media == YAML {
		return notAcceptable(o.streams()...)
	}
	return nil
}

// streams returns the media types of streams that a refusal lists.
func (o Offer) streams() []string {
	out := []string{JSON + ";stream=watch", Protobuf + ";stream=watch"}
	if o.CBOR {
		out = append(out, CBORSequence)
	}
	return out
}

// NegotiateOnly is Negotiate for a document that exists in one media type only, and that the router alone negotiates.
func NegotiateOnly(r *http.Request, media string) (Representation, error) {
	if routes(r.Header.Get("Accept"), func(typ string) bool { return typ == media }) {
		return Representation{Media: media}, nil
	}
	return Plain, notRouted([]string{media})
}

// PageGroup is the group of the kinds in which pages about the server are available.
const PageGroup = "config.k8s.io"

// NegotiatePage returns the representation of a page about the server that a client wants. Its As is kind, or empty for plain text. The
// error is a 406.
func NegotiatePage(r *http.Request, kind string, cbor bool) (Representation, error) {
	const text = "text/plain"
	page := Representation{Media: text}
	if strings.TrimSpace(r.Header.Get("Accept")) == "" {
		return page, nil
	}
	types := []string{JSON, YAML, text}
	if cbor {
		types = append(types, CBOR)
	}
	for _, c := range clauses(r.Header.Get("Accept")) {
		as, group, version := c.params["as"], c.params["g"], c.params["v"]
		if c.params["stream"] != "" || c.params["sv"] != "" {
			continue
		}
		isText := as == "" && group == "" && version == ""
		if !isText && (as != kind || group != PageGroup || version != "v1alpha1" && version != "v1beta1") {
			continue
		}
		at := slices.IndexFunc(types, func(media string) bool { return c.matches(media) && isText == (media == text) })
		switch {
		case at < 0:
		case isText:
			return page, nil
		default:
			return Representation{
				Media: types[at], Params: ";g=" + group + ";v=" + version + ";as=" + as, As: as, Of: group + "/" + version,
				Pretty: types[at] == JSON && pretty(r, c.params),
			}, nil
		}
	}
	return Plain, notAcceptable(types...)
}

// matches reports whether c accepts a media type.
func (c clause) matches(media string) bool {
	main, _, _ := strings.Cut(media, "/")
	return c.typ == media || c.typ == main+"/*" || c.typ == "*/*"
}

// notRouted returns the router's 406 for a path that offers the given media types.
func notRouted(types []string) error {
	return newRouted(http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable,
		"406: Not Acceptable\n\nAvailable representations: "+strings.Join(types, ", "))
}

// notAcceptable returns the 406 of kube-apiserver's handlers.
func notAcceptable(types ...string) error {
	return &mediaError{
		code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable,
		message: "only the following media types are accepted: " + strings.Join(types, ", "),
	}
}

// plainClauses is the result for the usual Accept headers of JSON clients. It is shared and must not be modified.
var plainClauses = []clause{{typ: JSON, q: 1}}

// clauses parses an Accept header.
//
// The order is that in which they are tried. Clauses that are no media type are left out.
func clauses(header string) []clause {
	switch strings.TrimSpace(header) {
	case "", JSON:
		return plainClauses
	}
	var out accepted
	for part := range strings.SplitSeq(header, ",") {
		if c, ok := parseClause(part); ok {
			out = append(out, c)
		}
	}
	sort.Sort(out)
	return out
}

// parseClause parses an entry of an Accept header as kube-apiserver does: a parameter without a value, or with several, does not count.
func parseClause(text string) (clause, bool) {
	typ, params, _ := strings.Cut(text, ";")
	c := clause{typ: strings.TrimSpace(typ), q: 1, params: map[string]string{}}
	if c.typ == "*" || c.typ == "*/" {
		c.typ = "*/*"
	}
	if main, sub, ok := strings.Cut(c.typ, "/"); !ok || sub == "" || strings.Contains(sub, "/") {
		return c, false
	} else {
		c.typ = strings.TrimSpace(main) + "/" + strings.TrimSpace(sub)
	}
	for param := range strings.SplitSeq(params, ";") {
		name, text, _ := strings.Cut(param, "=")
		switch name = strings.TrimSpace(name); {
		case text == "" || strings.Contains(text, "="):
		case name == "q":
			c.q, _ = strconv.ParseFloat(text, 32)
		default:
			c.params[name] = strings.TrimSpace(text)
		}
	}
	return c, true
}

// accepted sorts the clauses of a header as kube-apiserver does: sort.Interface. Its order is none for some headers, which then depend on the
// steps of the sort.
type accepted []clause

func (a accepted) Len() int      { return len(a) }
func (a accepted) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Less puts the greater weight first, then types before */*, and then those before type/*. It is no order: two clauses may each be less
// than the other. So the sort must be the same as in kube-apiserver, sort.Sort, to give the same outcome.
func (a accepted) Less(i, j int) bool {
	anyType := func(c clause) bool { return strings.HasPrefix(c.typ, "*/") }
	anySubtype := func(c clause) bool { return strings.HasSuffix(c.typ, "/*") }
	return a[i].q > a[j].q || !anyType(a[i]) && anyType(a[j]) || !anySubtype(a[i]) && anySubtype(a[j])
}

// representation returns the representation that c asks for, and whether the server knows it.
//
// A clause that asks for a conversion must name group and version; a clause with only some of the parameters is unknown.
func (c clause) representation(r *http.Request) (Representation, bool) {
	rep := Representation{}
	switch c.typ {
	case JSON, "*/*", "application/*":
		rep.Media = JSON
	case YAML, Protobuf, CBOR:
		rep.Media = c.typ
	default:
		return rep, false
	}
	rep.Pretty = rep.Media == JSON && pretty(r, c.params)
	as, version := c.params["as"], c.params["v"]
	if as == "" && version == "" && c.params["g"] == "" {
		return rep, true
	}
	known := as == AsTable || as == AsPartial || as == AsPartialList
	if !known || c.params["g"] != metav1.GroupName || version != "v1" && version != "v1beta1" {
		return rep, false
	}
	rep.As, rep.Of = as, metav1.GroupName+"/"+version
	return rep, true
}

// known reports whether the router knows a media type on a path with the offer: the type of a sequence, too, which no client can ask for.
func (o Offer) known(typ string) bool {
	return slices.Contains(o.types(), typ) || o.Text && typ == plainText || o.Listed && o.CBOR && typ == CBORSequence
}

// routes reports whether the router of kube-apiserver lets an Accept header pass: whether one of its types is */* or known. "*" means nothing
// to the router.
func routes(header string, known func(string) bool) bool {
	return header == "" || names(header, func(typ string) bool { return typ == "*/*" || known(typ) })
}

// names reports whether one of the media types of a header is known. As the router does, it looks at the types without their parameters.
func names(header string, known func(string) bool) bool {
	for part := range strings.SplitSeq(header, ",") {
		typ, _, _ := strings.Cut(part, ";")
		if known(strings.Trim(typ, " ")) {
			return true
		}
	}
	return false
}

// pretty reports whether to indent JSON. The parameter pretty=1 of the clause does it. Otherwise the first value in the query decides, unless
// it is empty, and then whether the user agent is curl, Wget or a browser.
func pretty(r *http.Request, params map[string]string) bool {
	if params["pretty"] == "1" {
		return true
	}
	if strings.Contains(r.URL.RawQuery, "pretty") {
		if text := r.URL.Query().Get("pretty"); text != "" {
			asked, _ := strconv.ParseBool(text) // any other text is false
			return asked
		}
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}

// NotList is the 406 of a client that wants the metadata of a list where there is one object, of a Go type.
func NotList(typ string) error {
	return mismatched("you requested PartialObjectMetadataList, but the requested object is not a list (" + typ + ")")
}

// IsList is the 406 of a client that wants the metadata of an object where there is a list, of a Go type.
func IsList(typ string) error {
	return mismatched("you requested PartialObjectMetadata, but the requested object is a list (" + typ + ")")
}

func mismatched(message string) error {
	return &mediaError{code: http.StatusNotAcceptable, reason: metav1.StatusReasonNotAcceptable, message: message}
}
