package server

import (
	"fmt"
	"net/http"
	"time"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// From the outcome of a verb to the document of an answer. There are two ways, since a list can be sent while it is read:
//
//	answers.list    JSON, Tables of most kinds, and protobuf: pieces go to the client as they are made
//	answers.write   everything else: the outcome is converted to what the client asks for, and encoded as a whole

// answers writes answers in the representations that clients ask for.
//
// It is immutable and safe for concurrent use.
type answers struct {
	out response.Writer
	now func() time.Time
	log logs.Logger
}

// isListed reports whether a list can be answered by list. A Table that marks one of its objects as the default cannot: all of them tell
// which one it is.
func isListed(v *catalog.Version, rep wire.Representation) bool {
	if v.Virtual {
		return false
	}
	switch rep.Media {
	case wire.JSON:
		return rep.As == "" || rep.As == wire.AsTable && v.Default == nil
	case wire.Protobuf:
		return rep.As == ""
	}
	return false
}

// list answers a request for a list while it is read, piece by piece, so that a client that is slow holds little memory.
//
// An error before the first piece is an ordinary answer. After it, nothing can be said any more, and the connection is cut off.
func (a *answers) list(w http.ResponseWriter, b *read.Reader, q *rest.Request, rep wire.Representation) {
	q.Warnings.Write(w.Header())
	stream := wire.NewStream(w, q.HTTP, rep)
	var err error
	switch {
	case rep.Media == wire.Protobuf:
		err = b.ListMessages(q, stream)
	case rep.As == wire.AsTable:
		err = b.ListTable(q, func() (wire.Table, error) { return a.newTable(q, rep) }, stream)
	default:
		err = b.ListTexts(q, stream)
	}
	if err == nil {
		err = stream.Close()
	}
	switch {
	case err == nil:
	case !stream.Begun() && overdue(q.HTTP.Context(), err):
		response.TimedOut(w)
	case !stream.Begun():
		a.out.Error(w, q.HTTP, err)
	default:
		if q.HTTP.Context().Err() == nil {
			a.log.Error("a list was cut off", logs.Path(q.HTTP.URL.Path), logs.Fault(err))
		}
		panic(http.ErrAbortHandler) // so that the client notices
	}
}

// write writes the outcome of a request as the client wants it.
//
// A client that asks for a Table or for metadata gets a Status as it is, in the media type that it named with that. The type is one that the
// resource has, whereas a Status that refuses may have another one.
func (a *answers) write(w http.ResponseWriter, q *rest.Request, rep wire.Representation, of *rest.Answer) {
	document, err := a.represented(q, rep, of)
	if err != nil {
		a.out.Error(w, q.HTTP, err)
		return
	}
	if o := of.Object.Content; o.Get("kind").Str() == "Status" && o.Get("apiVersion").Str() == "v1" {
		rep = wire.Representation{Media: rep.Media, Pretty: rep.Pretty}
	}
	a.out.Document(w, q.HTTP, of.Code, rep, document)
}

// represented returns the document that a client gets.
//
// The cases are tried in order: Scales, whole objects, Tables, metadata. What cannot be shown as the client asks for is a 406, or for
// custom resources the 500 that kube-apiserver has.
func (a *answers) represented(q *rest.Request, rep wire.Representation, of *rest.Answer) (wire.Document, error) {
	newOf := q.Version.New
	if action := q.Version.Actions[q.Target.Subresource]; action != nil && of.Object.Content.Get("kind").Str() == action.Kind {
		newOf = action.New
	}
	switch {
	case q.IsScale() && rep.As == wire.AsPartial:
		return wire.Object{Value: wire.Partial(rep.Of, of.Object.Content)}, nil
	case q.IsScale() && rep.As == wire.AsPartialList:
		return nil, wire.NotList(scaleTypeOf(q))
	case q.IsScale() && rep.As == wire.AsTable:
		table, err := a.scaleTable(q, rep, of.Object.Content)
		return wire.Object{Value: table}, err
	case rep.As == "" || !of.Converted:
		if of.List == nil {
			return wire.Managed{Object: of.Object, Text: of.Text, New: newOf}, nil
		}
		return wire.List{Value: wire.ListDocument(q.Version, of.List.Meta(), of.List.Items), New: newOf}, nil
	case rep.As == wire.AsTable:
		table, err := a.table(q, rep, of)
		return wire.Object{Value: table}, err
	case rep.As == wire.AsPartial && of.List == nil:
		whole, err := of.Object.Value()
		return wire.Object{Value: wire.Partial(rep.Of, whole)}, err
	case rep.As == wire.AsPartialList && of.List != nil:
		return wire.List{Value: wire.PartialList(rep.Of, of.List.Meta(), of.List.Items)}, nil
	case rep.As == wire.AsPartialList && q.Version.Custom:
		return nil, fmt.Errorf("content is not a list")
	case rep.As == wire.AsPartialList:
		return nil, wire.NotList(typeOf(q, ""))
	}
	return nil, wire.IsList(typeOf(q, "List"))
}

// scaleTypeOf returns what kube-apiserver calls the Go type of the Scales of a resource.
func scaleTypeOf(q *rest.Request) string {
	if q.Version.Custom {
		return "*v1.Scale"
	}
	return "*autoscaling.Scale"
}

// typeOf returns what kube-apiserver calls the Go type of the objects of a resource, or of a list of them.
//
// Clients see it in error texts.
func typeOf(q *rest.Request, suffix string) string {
	if q.Version.Custom {
		return "*unstructured.Unstructured" + suffix
	}
	return "*" + api.InternalType(q.Version.Group, q.Version.Kind) + suffix
}

// table returns an answer as a Table.
func (a *answers) table(q *rest.Request, rep wire.Representation, of *rest.Answer) (value.Value, error) {
	t, err := a.newTable(q, rep)
	if err != nil {
		return value.Value{}, err
	}
	t.List = of.List != nil
	if !t.List {
		whole, err := of.Object.Value()
		m := wire.ListMeta{Version: api.Meta(whole, "resourceVersion")}
		return t.Document(m, []value.Value{whole}, true), err
	}
	return t.Document(of.List.Meta(), of.List.Items, true), nil
}

// scaleTable returns a Scale as a Table.
func (a *answers) scaleTable(q *rest.Request, rep wire.Representation, scale value.Value) (value.Value, error) {
	t, err := a.newTable(q, rep)
	if err != nil {
		return value.Value{}, err
	}
	// A version with nothing but the columns of Scales.
	shown := &catalog.Version{Resource: q.Version.Resource}
	shown.Columns, shown.Row = builtin.ScaleTable(q.Version.Custom)
	t.Version = shown
	return t.Document(wire.ListMeta{Version: api.Meta(scale, "resourceVersion")}, []value.Value{scale}, true), nil
}

// newTable returns the Table that a request asks for, without what it is of. The error is a 400.
func (a *answers) newTable(q *rest.Request, rep wire.Representation) (wire.Table, error) {
	include, err := wire.ParseInclude(q.Query)
	return wire.Table{Of: rep.Of, Version: q.Version, Now: a.now(), Include: include}, err
}
