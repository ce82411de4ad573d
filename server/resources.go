package server

import (
	"context"
	stderrors "errors"
	"net/http"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/audit"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/auth/accounts"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/metrics"
	"github.com/deed-project/deed/server/registry/components"
	"github.com/deed-project/deed/server/registry/namespaces"
	"github.com/deed-project/deed/server/registry/pods"
	"github.com/deed-project/deed/server/registry/reviews"
	"github.com/deed-project/deed/server/registry/serviceaccounts"
	"github.com/deed-project/deed/server/request"
	"github.com/deed-project/deed/server/response"
	"github.com/deed-project/deed/server/rest"
	"github.com/deed-project/deed/server/rest/read"
	"github.com/deed-project/deed/server/rest/watch"
	"github.com/deed-project/deed/server/rest/write"
	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// Requests for resources. kube-apiserver serves built-in kinds by a table of routes, and custom resources by one handler for all of them.
// The two refuse wrong requests with different errors, hence two functions here: builtin and custom. Both lead to verb, which negotiates,
// carries out and answers.

// resources serves resources: it leads a request to the function of its verb, and writes the answer.
//
// It is immutable and safe for concurrent use.
type resources struct {
	reader  *read.Reader
	writer  *write.Writer
	watches *watch.Handler
	cbor    bool // bodies and answers may be CBOR
	access  *auth.Access
	audit   audit.Log
	metrics *metrics.Metrics
	answers answers

	accounts *accounts.Authority
}

var (
	objectVerbs      = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	subresourceVerbs = []string{"get", "update", "patch"}
)

// custom serves a custom resource, in the manner of the handler that kube-apiserver has for all of them.
//
// The order of its refusals: the path, the subresource, the verb.
func (h *resources) custom(w http.ResponseWriter, r *http.Request, c *request.Context, resource *catalog.Resource) {
	target, verb := &c.Target, c.Verb
	version := resource.Version(target.Version)
	if swept := resource.Swept; version == nil && c.Unasked && swept != nil && swept.Name == target.Version {
		version = swept
	}
	everywhere := verb == "list" || verb == "watch"
	if version == nil || target.Namespace != "" && !resource.Namespaced ||
		target.Namespace == "" && resource.Namespaced && !everywhere {
		response.NotFound(w)
		return
	}
	if resource.Broken {
		h.answers.out.Error(w, r, errors.NewInternalError(stderrors.New("error resolving resource")))
		return
	}
	if err := offeredByCustom(version, target, verb); err != nil {
		var warnings api.Warnings
		warnings.Add(version.Deprecation)
		warnings.Write(w.Header())
		h.answers.out.Error(w, r, err)
		return
	}
	h.verb(w, r, c, version)
}

// offeredByCustom returns an error unless a version of a custom resource has the subresource of target, and that has verb.
func offeredByCustom(version *catalog.Version, target *api.Target, verb string) error {
	verbs := objectVerbs
	switch sub := target.Subresource; {
	case sub == "":
	case sub == "status" && version.Status != nil, sub == "scale" && version.Scale != nil:
		verbs = subresourceVerbs
	default:
		return errors.NewNotFound(version.GroupResource(), target.Name)
	}
	if !slices.Contains(verbs, verb) {
		return errors.NewMethodNotSupported(version.GroupResource(), verb)
	}
	return nil
}

// builtin serves a built-in kind, in the manner of a table of routes.
//
// A path that no route has is a 404, and a method that no route of the path has is a 405.
func (h *resources) builtin(w http.ResponseWriter, r *http.Request, c *request.Context, resource *catalog.Resource) {
	if resource.GroupResource() == namespaces.Resource {
		if strings.Contains(c.Path, "/namespaces/"+c.Target.Namespace+"/namespaces") { // no namespace is in another one
			h.answers.out.Error(w, r, api.NoResource())
			return
		}
		c.Target.Namespace = ""
	}
	target, verb := &c.Target, c.Verb
	version := resource.Version(target.Version)
	below := false
	if version != nil {
		connection := version.Connects(target.Subresource)
		below = connection != nil && connection.Below
	}
	switch {
	case version == nil || target.Rest != "" && !below || !version.HasSubresource(target.Subresource),
		!resource.Namespaced && target.Namespace != "", target.Name != "" && target.Subresource == "" && !isNamed(resource),
		target.Watch && (target.Subresource != "" || !resource.Has("watch")),
		resource.Namespaced && target.Namespace == "" && target.Name != "" && !target.Watch:
		h.answers.out.Error(w, r, api.NoResource())
	case below && r.Method == http.MethodOptions: // proxies pass it on; it has no verb
		h.verb(w, r, c, version)
	case r.Method == http.MethodHead && !below || target.Watch && r.Method != http.MethodGet || !offered(version, target, verb):
		h.answers.out.Error(w, r, api.NoMethod())
	default:
		h.verb(w, r, c, version)
	}
}

// isNamed reports whether a resource has objects with names: the objects of reviews have none.
func isNamed(resource *catalog.Resource) bool { return !resource.Virtual || resource.Has("get") }

// offered reports whether the table of routes has verb for what target names.
//
// A virtual resource has one verb, and actions have verbs of their own.
func offered(version *catalog.Version, target *api.Target, verb string) bool {
	resource := version.Resource
	switch {
	case version.Actions[target.Subresource] != nil:
		return version.Actions[target.Subresource].Has(verb) && (target.Namespace != "" || !resource.Namespaced)
	case target.Subresource == "finalize":
		return verb == "update"
	case target.Subresource != "":
		return slices.Contains(subresourceVerbs, verb)
	}
	if verb == "watch" && !resource.Has("watch") { // the route is that of lists
		verb = "list"
	}
	ofCollection := slices.Contains([]string{"list", "watch", "create", "deletecollection"}, verb)
	nowhere := resource.Namespaced && target.Namespace == "" && verb != "list" && verb != "watch"
	return resource.Has(verb) && !nowhere && (ofCollection == (target.Name == "") || verb == "watch")
}

// verb carries out a request for a resource.
//
// Watches, and lists that are sent while they are read, answer by themselves. All others have an outcome that conclude answers with. Reads
// are not audited, since admission is not asked about them.
func (h *resources) verb(w http.ResponseWriter, r *http.Request, c *request.Context, version *catalog.Version) {
	verb := c.Verb
	q := rest.New(r, c.Query, c.Target, version)
	q.CBOR, q.Unasked, q.Record = h.cbor, c.Unasked, c.Record
	rep, err := negotiate(q, verb)
	if !wire.IsRouted(err) {
		q.Warnings.Add(version.Deprecation)
		h.count(r, c, version)
	}
	if rep.As == wire.AsTable && err == nil {
		q.Version = shownIn(q, verb)
	}
	switch {
	case err != nil:
	case verb == "watch" && !version.Custom && !version.Has("watch"):
		err = errors.NewMethodNotSupported(version.GroupResource(), verb)
	case verb == "watch":
		h.watches.Serve(w, q, c, rep)
		return
	case verb == "list" && isListed(version, rep) && !c.Record.WantsAnswer() && r.Context().Err() == nil:
		h.answers.list(w, h.reader, q, rep)
		return
	}
	q.Textual, q.NoLog = rep.IsText() && rep.As == "", noLog(rep)
	var annotations *audit.Annotations
	if verb != "get" && verb != "list" {
		annotations = h.audit.New(r.Context(), c.Record)
	}
	if annotations != nil {
		q.Annotate = annotations.Add
	}
	var answer *rest.Answer
	if err == nil {
		answer, err = h.inTime(q, c)
	}
	if answer != nil && answer.Release != nil {
		defer answer.Release()
	}
	code := h.conclude(w, q, rep, answer, err)
	if annotations != nil {
		logAnnotations(annotations, r, c, w.Header().Get("Audit-Id"), code)
	}
}

// logAnnotations hands the annotations of a request to the audit log. id is its Audit-Id. It keeps the action out of the frame of verb, below
// which the whole write runs.
func logAnnotations(a *audit.Annotations, r *http.Request, c *request.Context, id string, code int) {
	a.Write(r, c.Action(), id, code)
}

// shownIn returns the version in which a request for a Table reads objects: see [catalog.Version.ShownAs]. Rows with whole objects need the
// version of the request.
func shownIn(q *rest.Request, verb string) *catalog.Version {
	isRead := verb == "get" || verb == "list" || verb == "watch"
	shown := q.Version.Resource.Version(q.Version.ShownAs)
	if include, err := wire.ParseInclude(q.Query); !isRead || shown == nil || err != nil || include == metav1.IncludeObject {
		return q.Version
	}
	return shown
}

// count counts a request for a version in the metrics.
func (h *resources) count(r *http.Request, c *request.Context, version *catalog.Version) {
	route := request.RouteOf(r, c.Info, version.Custom)
	h.metrics.Begin(c.Info, route)
	if version.Deprecation != "" {
		h.metrics.CountDeprecated(route, version.Removed)
		c.Record.Deprecate(version.Removed)
	}
}

// conclude answers a request with what came of it, and returns the status code.
//
// Warnings are written before the answer, as headers. A timeout has an answer without warnings.
func (h *resources) conclude(w http.ResponseWriter, q *rest.Request, rep wire.Representation, answer *rest.Answer, err error) int {
	switch r := q.HTTP; {
	case err != nil && overdue(r.Context(), err):
		response.TimedOut(w)
		return http.StatusGatewayTimeout
	case err != nil:
		q.Warnings.Write(w.Header())
		h.metrics.Refuse(q.Version, err)
		h.answers.out.Error(w, r, err)
		return response.Code(api.StatusOf(err).Code)
	}
	q.Warnings.Write(w.Header())
	if answer.Code == http.StatusNoContent {
		w.WriteHeader(answer.Code)
		return answer.Code
	}
	h.answers.write(w, q, rep, answer)
	return answer.Code
}

// noLog returns the refusal of a client that wants metadata where there is a log.
func noLog(rep wire.Representation) error {
	switch rep.As {
	case wire.AsPartial:
		return stderrors.New("object does not implement the Object interfaces")
	case wire.AsPartialList:
		return wire.NotList("*rest.LocationStreamer")
	}
	return nil
}

// negotiate returns the representation that the client wants, of those that the path offers.
func negotiate(q *rest.Request, verb string) (wire.Representation, error) {
	if q.Version.Connects(q.Target.Subresource) != nil {
		return wire.Representation{}, nil // of the other side
	}
	offer := q.Offer()
	// What is sent comes before what is accepted.
	if verb == "patch" {
		if _, err := write.PatchMedia(q); err != nil {
			return wire.Plain, err
		}
	}
	if q.Target.Name == "" && (verb == "patch" || verb == "update") {
		return wire.Plain, errors.NewBadRequest("name must be provided")
	}
	isLog := q.Version.Logs(q.Target.Subresource)
	if verb == "watch" {
		return wire.NegotiateWatch(q.HTTP, offer)
	}
	// The Scale of a custom resource has the media types of custom resources.
	offer.Text = isLog
	offer.Listed = verb == "list"
	offer.NoTables = isLog || !q.Version.Has("get") || !q.Version.ShowsTables(q.Target.Subresource)
	return wire.Negotiate(q.HTTP, offer)
}

// inTime carries out a request. The error is the context's if the time of the whole request is over.
//
// Two deadlines may end it: that of the whole request, which is answered by conclude, whatever the verb found out meanwhile, and the shorter
// one of writes, whose error names it.
func (h *resources) inTime(q *rest.Request, c *request.Context) (*rest.Answer, error) {
	ctx := q.HTTP.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answer, err := h.carryOut(q, c.Verb)
	switch late := ctx.Err(); {
	case err == nil || late != context.DeadlineExceeded:
		return answer, err
	case c.Shortened:
		return nil, errors.NewTimeoutError("request did not complete within requested timeout - "+late.Error(), 0)
	default:
		return nil, late
	}
}

// overdue reports whether err says that the time of a request, whose context is ctx, is over.
func overdue(ctx context.Context, err error) bool {
	return stderrors.Is(err, os.ErrDeadlineExceeded) ||
		stderrors.Is(err, context.DeadlineExceeded) && stderrors.Is(ctx.Err(), context.DeadlineExceeded)
}

// carryOut calls the function of the verb of a request. Some kinds have functions of their own.
//
// The first cases are resources that do not store what they are sent, or do more than that.
func (h *resources) carryOut(q *rest.Request, verb string) (*rest.Answer, error) {
	switch {
	case q.Version.Logs(q.Target.Subresource):
		return pods.Log(h.writer, q)
	case q.Version.Connects(q.Target.Subresource) != nil:
		return nil, pods.Connect(h.writer, q)
	case q.Version.GroupResource() == serviceaccounts.Resource && q.Target.Subresource == "token":
		return serviceaccounts.CreateToken(h.writer, q, h.accounts)
	case q.Version.Actions[q.Target.Subresource] != nil, q.Version.Kind == "Binding" && !q.Version.Custom:
		return pods.Act(h.writer, q)
	case q.Version.GroupResource() == components.Resource && verb == "list":
		return components.List(h.reader.Store, q)
	case q.Version.GroupResource() == components.Resource:
		if err := api.RefuseExport(q.Query); err != nil {
			return nil, err
		}
		return components.Get(h.reader.Store, q)
	case q.Version.Virtual:
		return reviews.Create(q, func(review value.Value) (value.Value, error) {
			return h.access.Review(q.Context(), q.Version, q.Target.Namespace, review)
		})
	case verb == "delete" && q.Version.GroupResource() == namespaces.Resource:
		return namespaces.Delete(h.writer, q)
	}
	switch verb {
	case "get":
		if err := api.RefuseExport(q.Query); err != nil {
			return nil, err
		}
		return h.reader.Get(q)
	case "list":
		return h.reader.List(q)
	case "create":
		return h.writer.Create(q)
	case "update":
		return h.writer.Update(q)
	case "patch":
		return h.writer.Patch(q)
	case "delete":
		return h.writer.Delete(q, nil)
	default:
		return h.writer.DeleteCollection(q)
	}
}
