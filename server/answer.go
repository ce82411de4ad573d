package server

import (
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// isListed reports whether a list can be answered by listed. A Table that marks one of its objects as the default cannot: all of them tell
// which one it is.
func isListed(v *catalog.Version, rep wire.Representation) bool {
	switch rep.Media {
	case wire.JSON:
		return rep.As == "" || rep.As == wire.AsTable && v.Default == nil
	case wire.Protobuf:
		return rep.As == ""
	}
	return false
}

// listed answers a request for a list while it is read, piece by piece, so that a client that is slow holds little memory.
func (s *Server) listed(w http.ResponseWriter, q *rest.Request, rep wire.Representation) {
	q.Warnings.Write(w.Header())
	stream := wire.NewStream(w, q.HTTP, rep)
	var err error
	switch {
	case rep.Media == wire.Protobuf:
		err = q.ListMessages(stream)
	case rep.As == wire.AsTable:
		err = q.ListTable(func() (wire.Table, error) { return s.newTable(q, rep) }, stream)
	default:
		err = q.ListTexts(stream)
	}
	if err == nil {
		err = stream.Close()
	}
	switch {
	case err == nil:
	case !stream.Begun() && overdue(q.HTTP.Context(), err):
		response.TimedOut(w)
	case !stream.Begun():
		s.out.Error(w, q.HTTP, err)
	default:
		if q.HTTP.Context().Err() == nil {
			s.log.Error("a list was cut off", logs.Path(q.HTTP.URL.Path), logs.Fault(err))
		}
		panic(http.ErrAbortHandler) // so that the client notices
	}
}

// answer writes the outcome of a request as the client wants it.
func (s *Server) answer(w http.ResponseWriter, q *rest.Request, rep wire.Representation, a *read.Answer) {
	document, err := s.represented(q, rep, a)
	if err != nil {
		s.out.Error(w, q.HTTP, err)
		return
	}
	if o := a.Object.Content; o.Get("kind").Str() == "Status" && o.Get("apiVersion").Str() == "v1" {
		rep = s.out.ErrorMedia(q.HTTP)
	}
	s.out.Document(w, q.HTTP, a.Code, rep, document)
}

// represented returns the document that a client gets.
func (s *Server) represented(q *rest.Request, rep wire.Representation, a *read.Answer) (wire.Document, error) {
	newOf := q.Version.New
	switch {
	case q.Target.Subresource == "scale" && rep.As == wire.AsPartial:
		return wire.Object{Value: wire.Partial(rep.Of, a.Object.Content)}, nil
	case q.Target.Subresource == "scale" && rep.As == wire.AsPartialList:
		return nil, notList(scaleTypeOf(q))
	case q.Target.Subresource == "scale" && rep.As == wire.AsTable:
		table, err := s.scaleTable(q, rep, a.Object.Content)
		return wire.Object{Value: table}, err
	case rep.As == "" || !a.Converted:
		if a.List == nil {
			return wire.Managed{Object: a.Object, Text: a.Text, New: newOf}, nil
		}
		return wire.List{Value: wire.ListDocument(q.Version, a.List.Meta(), a.List.Items), New: newOf}, nil
	case rep.As == wire.AsTable:
		table, err := s.table(q, rep, a)
		return wire.Object{Value: table}, err
	case rep.As == wire.AsPartial && a.List == nil:
		whole, err := a.Object.Value()
		return wire.Object{Value: wire.Partial(rep.Of, whole)}, err
	case rep.As == wire.AsPartialList && a.List != nil:
		return wire.List{Value: wire.PartialList(rep.Of, a.List.Meta(), a.List.Items)}, nil
	case rep.As == wire.AsPartialList && q.Version.Custom:
		return nil, fmt.Errorf("content is not a list")
	case rep.As == wire.AsPartialList:
		return nil, notList(typeOf(q, ""))
	}
	return nil, mismatched("you requested PartialObjectMetadata, but the requested object is a list (%s)", typeOf(q, "List"))
}

// mismatched refuses to answer with metadata in a form that the answer does not have: 406.
func mismatched(text, typ string) error {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
		Message: fmt.Sprintf(text, typ),
	}}
}

// notList refuses to answer with the metadata of a list where there is one object, of a Go type.
func notList(typ string) error {
	return mismatched("you requested PartialObjectMetadataList, but the requested object is not a list (%s)", typ)
}

// scaleTypeOf returns what kube-apiserver calls the Go type of the Scales of a resource.
func scaleTypeOf(q *rest.Request) string {
	if q.Version.Custom {
		return "*v1.Scale"
	}
	return "*autoscaling.Scale"
}

// typeOf returns what kube-apiserver calls the Go type of the objects of a resource, or of a list of them.
func typeOf(q *rest.Request, suffix string) string {
	if q.Version.Custom {
		return "*unstructured.Unstructured" + suffix
	}
	group, _, _ := strings.Cut(q.Version.Group, ".")
	if group == "" {
		group = "core"
	}
	return "*" + group + "." + q.Version.Kind + suffix
}

// table returns an answer as a Table.
func (s *Server) table(q *rest.Request, rep wire.Representation, a *read.Answer) (value.Value, error) {
	t, err := s.newTable(q, rep)
	if err != nil {
		return value.Value{}, err
	}
	t.List = a.List != nil
	if !t.List {
		whole, err := a.Object.Value()
		m := wire.ListMeta{Version: api.Meta(whole, "resourceVersion")}
		return t.Document(m, []value.Value{whole}, true), err
	}
	return t.Document(a.List.Meta(), a.List.Items, true), nil
}

// scaleTable returns a Scale as a Table.
func (s *Server) scaleTable(q *rest.Request, rep wire.Representation, scale value.Value) (value.Value, error) {
	t, err := s.newTable(q, rep)
	if err != nil {
		return value.Value{}, err
	}
	shown := &catalog.Version{Resource: q.Version.Resource}
	shown.Columns, shown.Row = builtin.ScaleTable(q.Version.Custom)
	t.Version = shown
	return t.Document(wire.ListMeta{Version: api.Meta(scale, "resourceVersion")}, []value.Value{scale}, true), nil
}

// newTable returns the Table that a request asks for, without what it is of. The error is a 400.
func (s *Server) newTable(q *rest.Request, rep wire.Representation) (wire.Table, error) {
	include, err := wire.ParseInclude(q.Query)
	return wire.Table{Of: rep.Of, Version: q.Version, Now: s.now(), Include: include}, err
}
