package write

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// How an object ends. A delete with a grace period writes two members, and a later delete may move them, but only to an earlier end:
//
//	request                       deletionTimestamp   deletionGracePeriodSeconds
//	at 12:00, grace 30            12:00:30            30       the object begins to end
//	at 12:00, grace 60            12:00:30            30       pending: no sooner for this request
//	at 12:00, grace 10            12:00:10            10       moved by 10 - 30 seconds
//	at 12:01, grace 0             now                 0        the object can go
//
// Invariant: while the end lies ahead, deletionTimestamp minus deletionGracePeriodSeconds is the time of the first delete.

// ending is how a delete ends an object that may have a grace period, as a pod on a node has.
//
// At most one of begins and pending holds. If neither does, the object has no grace period that still runs, and finalizers alone decide
// whether it waits.
type ending struct {
	// content is the object with the timestamp and the period of its ending.
	content value.Value
	options *metav1.DeleteOptions // that still apply
	seconds int64                 // that the object has from now on, if it begins
	begins  bool                  // it begins to end, or has less time from now on
	pending bool                  // it ends already, and no sooner for this request
}

// endingOf returns how an object ends by a delete with options. A grace period can only become shorter, and only until it is over. When the
// object begins to end, its grace period is written to options. A kind that ends its objects in its own way ignores the options.
//
// In kube-apiserver, a delete of a collection knows no such kinds. So definitions go that way without the objects that they define.
func endingOf(v *catalog.Version, live value.Value, options *metav1.DeleteOptions, now time.Time, ofCollection bool) ending {
	content := live
	if !ofCollection {
		content = v.Form.PrepareDelete(live)
	}
	// PrepareDelete of the kind set the timestamp itself. Such a kind takes no options, so the client's policy adds no finalizers.
	if !content.Get("metadata", "deletionTimestamp").Equal(live.Get("metadata", "deletionTimestamp")) {
		return ending{content: content, options: &metav1.DeleteOptions{}, begins: true}
	}
	end := graceful(v, content, options, now)
	end.options = options
	return end
}

// graceful is endingOf for kinds whose objects may have a grace period.
func graceful(v *catalog.Version, content value.Value, options *metav1.DeleteOptions, now time.Time) ending {
	if v.Grace == nil {
		return ending{content: content}
	}
	asked := options.GracePeriodSeconds
	// A negative period means one second.
	if asked != nil && *asked < 0 {
		asked = new(int64(1))
	}
	metadata := content.Get("metadata")
	had := metadata.Get("deletionGracePeriodSeconds").Int()
	switch {
	// The first delete: the kind says how long the object has.
	case metadata.Get("deletionTimestamp").IsAbsent():
		seconds := v.Grace(content, asked)
		options.GracePeriodSeconds = &seconds
		return ends(counted(content), now.Add(time.Duration(seconds)*time.Second), seconds)
	// The period is over already, or never was one: finalizers decide.
	case had == 0:
		return ending{content: content}
	// Compare periods, not ends: a repeated request with the same period must not prolong the object's life.
	case asked == nil || *asked >= had:
		return ending{content: content, pending: true}
	}
	end, err := time.Parse(time.RFC3339, metadata.Get("deletionTimestamp").Str())
	if err != nil {
		end = now // cannot fail: the server wrote the time
	}
	seconds := *asked
	// The new end may be past. Then the object ends now, with a period of at most one second.
	if end = end.Add(time.Duration(seconds-had) * time.Second); end.Before(now) {
		end, seconds = now, min(seconds, 1)
	}
	return ends(content, end, seconds)
}

// ends returns the ending of an object at a time, with a grace period in seconds.
func ends(content value.Value, at time.Time, seconds int64) ending {
	content = api.WithMetadata(content, "deletionTimestamp", value.String(api.Timestamp(at)))
	content = api.WithMetadata(content, "deletionGracePeriodSeconds", value.Int(seconds))
	return ending{content: content, seconds: seconds, begins: true}
}

// counted returns content with the next generation, if it has one.
//
// A deletion timestamp counts as a change of the desired state, for kinds that count generations.
func counted(content value.Value) value.Value {
	generation := content.Get("metadata", "generation").Int()
	if generation == 0 {
		return content
	}
	return api.WithMetadata(content, "generation", value.Int(generation+1))
}

// The finalizers that a propagation policy asks for.
const (
	orphanFinalizer     = "orphan"
	foregroundFinalizer = "foregroundDeletion"
)

// finalizersFor returns the finalizers that an object waits for when it is deleted. The finalizer of the propagation policy replaces that
// of another policy. Without a policy in the options, the finalizers stay as they are. The finalizer orphan is added if the kind orphans by
// default and no finalizer of a policy is there. Objects of kinds that own nothing wait for no policy.
//
//	finalizers        policy       outcome
//	[a orphan]        Foreground   [a foregroundDeletion]
//	[a orphan]        Background   [a]
//	[a orphan]        none         [a orphan]
//	[a]               none         [a], or [a orphan] if the kind orphans by default
func finalizersFor(v *catalog.Version, content value.Value, options *metav1.DeleteOptions) []string {
	var finalizers []string
	for f := range content.Get("metadata", "finalizers").Items() {
		finalizers = append(finalizers, f.Str())
	}
	ofPolicy := func(f string) bool { return f == orphanFinalizer || f == foregroundFinalizer }
	switch {
	case v.NoDependents:
		return slices.DeleteFunc(finalizers, ofPolicy)
	case !saysPolicy(options):
		if v.Orphans && !slices.ContainsFunc(finalizers, ofPolicy) {
			finalizers = append(finalizers, orphanFinalizer)
		}
		return finalizers
	}
	// orphanDependents, where it is given, wins over propagationPolicy. Validation of the options refuses both together.
	asked := ""
	//lint:ignore SA1019 clients still send it
	switch orphans := options.OrphanDependents; {
	case orphans != nil && *orphans, orphans == nil && *options.PropagationPolicy == metav1.DeletePropagationOrphan:
		asked = orphanFinalizer
	case orphans == nil && *options.PropagationPolicy == metav1.DeletePropagationForeground:
		asked = foregroundFinalizer
	}
	kept := slices.DeleteFunc(finalizers, func(f string) bool { return ofPolicy(f) && f != asked })
	if asked != "" && !slices.Contains(kept, asked) {
		kept = append(kept, asked)
	}
	return kept
}

// deleting returns content as it waits for finalizers, or for spec.finalizers if it holds. When it begins to wait, its generation counts
// up.
//
// A timestamp that is there already stays, unless it lies in the future. Finalizers make the grace period zero, as the object ends as soon
// as the last one is gone. A hold of the kind itself, as a namespace has, leaves the period as it is.
func deleting(content value.Value, now time.Time, holds bool) value.Value {
	switch began, err := time.Parse(time.RFC3339, api.Meta(content, "deletionTimestamp")); {
	case err != nil:
		content = api.WithMetadata(counted(content), "deletionTimestamp", value.String(api.Timestamp(now)))
	case began.After(now): // the clock went back, or was another one
		content = api.WithMetadata(content, "deletionTimestamp", value.String(api.Timestamp(now)))
	}
	if holds {
		return content
	}
	return api.WithMetadata(content, "deletionGracePeriodSeconds", value.Int(0))
}

// withFinalizers returns content with the given finalizers.
func withFinalizers(content value.Value, finalizers []string) value.Value {
	if len(finalizers) == 0 {
		return api.WithMetadata(content, "finalizers", value.Value{})
	}
	var items []value.Value
	for _, f := range finalizers {
		items = append(items, value.String(f))
	}
	return api.WithMetadata(content, "finalizers", value.List(items...))
}

// saysPolicy reports whether options have a propagation policy.
func saysPolicy(options *metav1.DeleteOptions) bool {
	//lint:ignore SA1019 clients still send it
	return options.PropagationPolicy != nil || options.OrphanDependents != nil
}

// isFinished reports whether content is to be removed in place of an update: live waits to be deleted, and content has no finalizers and
// nothing else that holds it.
//
// An object whose grace period still runs is not finished: its agent, such as the kubelet of a pod, deletes it.
func isFinished(v *catalog.Version, content, live value.Value) bool {
	metadata := live.Get("metadata")
	return content.Get("metadata", "finalizers").Len() == 0 && !metadata.Get("deletionTimestamp").IsAbsent() &&
		metadata.Get("deletionGracePeriodSeconds").Int() == 0 && !v.Form.BlocksDeletion(content)
}
