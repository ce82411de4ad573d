package audit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	auditapi "k8s.io/apiserver/pkg/apis/audit"
	kaudit "k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/audit/policy"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/value"
)

// The audit log of kube-apiserver. A policy gives each request a level. Each level has more than the
// one before:
//
//	None             no event
//	Metadata         who asked for what, and the code of the answer
//	Request          the body of the request
//	RequestResponse  the body of the answer
//
// A request has an event when it was received and when it is answered. A watch and other requests
// without an end have one when the answer begins, too.

// Recorder records requests as events of audit.k8s.io, and hands the events to a sink. The libraries
// of kube-apiserver read the policy and write the log. A Recorder is safe for concurrent use. The nil
// Recorder records nothing.
type Recorder struct {
	policy kaudit.PolicyRuleEvaluator
	sink   kaudit.Sink
}

// NewRecorder returns a Recorder for a policy: the JSON or YAML text of a Policy of audit.k8s.io/v1.
// The sink is called by many goroutines at once. It must not keep an event without a copy.
func NewRecorder(text []byte, sink kaudit.Sink) (*Recorder, error) {
	p, err := policy.LoadPolicyFromBytes(text)
	if err != nil {
		return nil, err
	}
	return &Recorder{policy: policy.NewPolicyRuleEvaluator(p), sink: sink}, nil
}

// Record is the event of one request, as far as the request has come. It is safe for concurrent use.
// The methods of the nil Record do nothing: the request is not recorded.
type Record struct {
	sink kaudit.Sink
	how  kaudit.RequestAuditConfig

	deprecated bool   // see Deprecate
	removed    string // likewise

	mu    sync.Mutex
	event auditapi.Event
}

// Begin returns the record of a request, or nil if the policy wants none. id is the Audit-Id of the
// answer. The zero User stands for a client that is not known.
func (a *Recorder) Begin(r *http.Request, action auth.Action, u auth.User, id string) *Record {
	if a == nil {
		return nil
	}
	how := a.policy.EvaluatePolicyRule(attributes(action, u))
	if how.Level == auditapi.LevelNone {
		return nil
	}
	n := &Record{sink: a.sink, how: how}
	n.event = auditapi.Event{
		Level: how.Level, AuditID: types.UID(id), RequestURI: r.URL.RequestURI(), Verb: action.Verb, UserAgent: agentOf(r),
		User: u.Info(), RequestReceivedTimestamp: metav1.NewMicroTime(time.Now()),
	}
	for _, ip := range utilnet.SourceIPs(r) {
		n.event.SourceIPs = append(n.event.SourceIPs, ip.String())
	}
	if !action.IsPath() {
		n.event.ObjectRef = &auditapi.ObjectReference{
			APIGroup: action.Group, APIVersion: action.Version, Resource: action.Resource, Subresource: action.Subresource,
			Namespace: action.Namespace, Name: action.Name,
		}
	}
	return n
}

// attributes returns what the rules of a policy look at.
func attributes(action auth.Action, u auth.User) authorizer.AttributesRecord {
	out := authorizer.AttributesRecord{
		Verb: action.Verb, Path: action.Path, ResourceRequest: !action.IsPath(), APIGroup: action.Group, APIVersion: action.Version,
		Resource: action.Resource, Subresource: action.Subresource, Namespace: action.Namespace, Name: action.Name,
	}
	if u.Name != "" {
		out.User = &user.DefaultInfo{Name: u.Name, UID: u.UID, Groups: u.Groups, Extra: u.Extra}
	}
	return out
}

// maxAgent is the largest number of bytes of a User-Agent that an event shows.
const maxAgent = 1024

// agentOf returns the User-Agent of a request.
func agentOf(r *http.Request) string {
	agent := r.UserAgent()
	if len(agent) > maxAgent {
		agent = agent[:maxAgent] + "...TRUNCATED"
	}
	return agent
}

// Impersonate notes the user that the request is carried out as. constraint is the verb of the
// permission if that is only for requests like this one, and otherwise empty.
func (n *Record) Impersonate(u auth.User, constraint string) {
	n.set(func(e *auditapi.Event) {
		as := u.Info()
		e.ImpersonatedUser = &as
		if constraint != "" {
			e.AuthenticationMetadata = &auditapi.AuthenticationMetadata{ImpersonationConstraint: constraint}
		}
	})
}

// Annotate adds an annotation. The first one of a key counts.
func (n *Record) Annotate(key, text string) {
	n.set(func(e *auditapi.Event) {
		if e.Annotations == nil {
			e.Annotations = map[string]string{}
		}
		if _, ok := e.Annotations[key]; !ok {
			e.Annotations[key] = text
		}
	})
}

// Deprecate notes that the request is for a deprecated version. removed is the release without it, and
// empty if it is not known. Only the last event says so.
func (n *Record) Deprecate(removed string) {
	if n != nil {
		n.deprecated, n.removed = true, removed
	}
}

// Send notes the object in the body of the request: its identity, and on the level Request its JSON
// text, which appendJSON appends.
func (n *Record) Send(metadata value.Value, appendJSON func([]byte) []byte) {
	if n == nil {
		return
	}
	n.set(func(e *auditapi.Event) {
		if ref := e.ObjectRef; ref != nil {
			fill(&ref.Namespace, metadata.Get("namespace"))
			fill(&ref.Name, metadata.Get("name"))
			fill(&ref.ResourceVersion, metadata.Get("resourceVersion"))
			uid := string(ref.UID)
			fill(&uid, metadata.Get("uid"))
			ref.UID = types.UID(uid)
		}
		if n.WantsBody() {
			e.RequestObject = n.body(appendJSON(nil))
		}
	})
}

// fill sets an empty text to a value.
func fill(text *string, v value.Value) {
	if *text == "" {
		*text = v.Str()
	}
}

// SendPatch notes the patch in the body of the request. It keeps the text. An event cannot have a
// text that is no JSON.
func (n *Record) SendPatch(text []byte) {
	if n.WantsBody() && json.Valid(text) {
		n.set(func(e *auditapi.Event) {
			e.RequestObject = &runtime.Unknown{Raw: text, ContentType: runtime.ContentTypeJSON}
		})
	}
}

// WantsBody reports whether the event has the body of the request.
func (n *Record) WantsBody() bool { return n != nil && !n.how.Level.Less(auditapi.LevelRequest) }

// WantsAnswer reports whether the event has the body of the answer.
func (n *Record) WantsAnswer() bool {
	return n != nil && !n.how.Level.Less(auditapi.LevelRequestResponse)
}

// Answer notes the answer: a Status, if it is one, and on the level RequestResponse its JSON text,
// which appendJSON appends. A nil appendJSON leaves the text as it is.
func (n *Record) Answer(status *metav1.Status, appendJSON func([]byte) []byte) {
	if n == nil {
		return
	}
	n.set(func(e *auditapi.Event) {
		if status != nil {
			e.ResponseStatus = &metav1.Status{
				Status: status.Status, Message: status.Message, Reason: status.Reason, Details: status.Details, Code: status.Code,
			}
		}
		if appendJSON != nil && n.WantsAnswer() {
			e.ResponseObject = n.body(appendJSON(nil))
		}
	})
}

// body returns a JSON text as events hold it.
func (n *Record) body(text []byte) *runtime.Unknown {
	if n.how.OmitManagedFields {
		text = withoutManagedFields(text)
	}
	return &runtime.Unknown{Raw: text, ContentType: runtime.ContentTypeJSON}
}

// withoutManagedFields returns the text of an object, a list or a Table without managed fields.
func withoutManagedFields(text []byte) []byte {
	v, err := value.Parse(text)
	if err != nil {
		return text // the text of an object always parses
	}
	v = each(each(unmanaged(v), "items", unmanaged), "rows", func(row value.Value) value.Value {
		if object := row.Get("object"); !object.IsAbsent() {
			return row.With("object", unmanaged(object))
		}
		return row
	})
	return v.AppendJSON(nil)
}

// each returns v with change applied to the items of a member that is a list.
func each(v value.Value, member string, change func(value.Value) value.Value) value.Value {
	list := v.Get(member)
	if list.Len() == 0 {
		return v
	}
	items := slices.Collect(list.Items())
	for i, item := range items {
		items[i] = change(item)
	}
	return v.With(member, value.List(items...))
}

// unmanaged returns an object without its managed fields.
func unmanaged(object value.Value) value.Value {
	metadata := object.Get("metadata")
	if metadata.Get("managedFields").IsAbsent() {
		return object
	}
	return object.With("metadata", metadata.With("managedFields", value.Value{}))
}

// Receive writes the event that the request was received. It reports false if the sink demands that
// the request fails, because the event is lost.
func (n *Record) Receive() bool { return n.write(auditapi.StageRequestReceived) }

// Begin notes the status code of the answer. It writes the event that the answer begins if the answer
// may have no end.
func (n *Record) Begin(code int, endless bool) {
	n.set(func(e *auditapi.Event) {
		if e.ResponseStatus == nil {
			e.ResponseStatus = &metav1.Status{}
		}
		e.ResponseStatus.Code = int32(code)
	})
	if endless {
		n.write(auditapi.StageResponseStarted)
	}
}

// Complete writes the event that the request is answered. An answer that never began was cut off.
func (n *Record) Complete(endless bool) {
	if n == nil {
		return
	}
	n.mu.Lock()
	begun := n.event.ResponseStatus != nil
	if !begun {
		n.event.ResponseStatus = &metav1.Status{Code: http.StatusOK, Status: metav1.StatusSuccess, Message: "Connection closed early"}
	}
	n.mu.Unlock()
	if !begun && endless {
		n.write(auditapi.StageResponseStarted)
	}
	if n.deprecated {
		n.Annotate("k8s.io/deprecated", "true")
		if n.removed != "" {
			n.Annotate("k8s.io/removed-release", n.removed)
		}
	}
	n.write(auditapi.StageResponseComplete)
}

// Panic writes the event that the request panicked with v. v may quote the body of the request, so that
// only events with the body have it.
func (n *Record) Panic(v any) {
	message := "APIServer panic'd"
	if n.WantsBody() {
		message = fmt.Sprintf("%s: %v", message, v)
	}
	n.set(func(e *auditapi.Event) {
		e.ResponseStatus = &metav1.Status{
			Code: http.StatusInternalServerError, Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Message: message,
		}
	})
	n.write(auditapi.StagePanic)
}

// set changes the event.
func (n *Record) set(change func(*auditapi.Event)) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.event)
}

// write hands the event to the sink, unless the policy omits the stage. It reports whether the sink
// took it.
func (n *Record) write(stage auditapi.Stage) bool {
	if n == nil || slices.Contains(n.how.OmitStages, stage) {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.event.Stage, n.event.StageTimestamp = stage, n.event.RequestReceivedTimestamp
	if stage != auditapi.StageRequestReceived {
		n.event.StageTimestamp = metav1.NewMicroTime(time.Now())
	}
	return n.sink.ProcessEvents(&n.event)
}
