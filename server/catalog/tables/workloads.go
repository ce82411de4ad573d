package tables

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/deed-project/deed/value"
)

var workloads = map[string][]cell{
	"pods": pods,
	"replicationcontrollers": {
		name, number("spec", "replicas"), number("status", "replicas"), number("status", "readyReplicas"), age,
		containers("spec", "template"), images("spec", "template"), labelsOf("spec", "selector"),
	},
	"replicasets.apps": {
		name, number("spec", "replicas"), number("status", "replicas"), number("status", "readyReplicas"), age,
		containers("spec", "template"), images("spec", "template"), selectorOf("spec", "selector"),
	},
	"deployments.apps": {
		name, shown(readyOf), number("status", "updatedReplicas"), number("status", "availableReplicas"), age,
		containers("spec", "template"), images("spec", "template"), shown(bareSelector),
	},
	"statefulsets.apps": {name, shown(readyOf), age, containers("spec", "template"), images("spec", "template")},
	"daemonsets.apps": {
		name, number("status", "desiredNumberScheduled"), number("status", "currentNumberScheduled"), number("status", "numberReady"),
		number("status", "updatedNumberScheduled"), number("status", "numberAvailable"),
		labelsOf("spec", "template", "spec", "nodeSelector"), age, containers("spec", "template"), images("spec", "template"),
		selectorOf("spec", "selector"),
	},
	"controllerrevisions.apps": {name, shown(controller), number("revision"), age},
	"jobs.batch": {
		name, shown(jobStatus), shown(jobCompletions), shown(jobDuration), age, containers("spec", "template"),
		images("spec", "template"), selectorOf("spec", "selector"),
	},
	"cronjobs.batch": {
		name, text("spec", "schedule"), textOr(none, "spec", "timeZone"), shown(suspended), count("status", "active"),
		shown(lastSchedule), age, containers("spec", "jobTemplate", "spec", "template"),
		images("spec", "jobTemplate", "spec", "template"), selectorOf("spec", "jobTemplate", "spec", "selector"),
	},
	"horizontalpodautoscalers.autoscaling": {
		name, shown(scaleTarget), shown(metrics), shown(fewestPods), number("spec", "maxReplicas"),
		number("status", "currentReplicas"), age,
	},
	"poddisruptionbudgets.policy": {
		name, share("spec", "minAvailable"), share("spec", "maxUnavailable"), number("status", "disruptionsAllowed"), age,
	},
}

// containers shows the names of the containers of a template of pods.
func containers(template ...string) cell { return ofContainers("name", template) }

// images shows the images of the containers of a template of pods.
func images(template ...string) cell { return ofContainers("image", template) }

func ofContainers(field string, template []string) cell {
	return shown(func(s source) string {
		return strings.Join(names(s.Get(template...).Get("spec", "containers"), field), ",")
	})
}

func readyOf(s source) string {
	return fmt.Sprintf("%d/%d", s.Get("status", "readyReplicas").Int(), s.Get("spec", "replicas").Int())
}

// bareSelector shows the selector of a Deployment, which has a way of its own to say that there is none.
func bareSelector(s source) string {
	selector, err := metav1.LabelSelectorAsSelector(labelSelector(s.Get("spec", "selector")))
	if err != nil {
		return "<invalid>"
	}
	return selector.String()
}

// controller shows whose revision it is.
func controller(s source) string {
	for owner := range s.Get("metadata", "ownerReferences").Items() {
		if !owner.Get("controller").Bool() {
			continue
		}
		gvk := kschema.FromAPIVersionAndKind(owner.Get("apiVersion").Str(), owner.Get("kind").Str())
		return strings.ToLower(gvk.GroupKind().String()) + "/" + owner.Get("name").Str()
	}
	return none
}

// jobStatus shows the first condition of a job that is true, by their weight.
func jobStatus(s source) string {
	switch {
	case hasCondition(s.Value, "Complete"):
		return "Complete"
	case hasCondition(s.Value, "Failed"):
		return "Failed"
	case !s.Get("metadata", "deletionTimestamp").IsAbsent():
		return "Terminating"
	}
	for _, typ := range []string{"Suspended", "FailureTarget", "SuccessCriteriaMet"} {
		if hasCondition(s.Value, typ) {
			return typ
		}
	}
	return "Running"
}

func jobCompletions(s source) string {
	succeeded, parallelism := s.Get("status", "succeeded").Int(), s.Get("spec", "parallelism").Int()
	switch wanted := s.Get("spec", "completions"); {
	case wanted.Kind() == value.KindInt:
		return fmt.Sprintf("%d/%d", succeeded, wanted.Int())
	case parallelism > 1:
		return fmt.Sprintf("%d/1 of %d", succeeded, parallelism)
	}
	return fmt.Sprintf("%d/1", succeeded)
}

// jobDuration shows how long a job ran, or runs until now.
func jobDuration(s source) string {
	begin, begun := instant(s.Get("status", "startTime"))
	if !begun {
		return ""
	}
	end, ended := instant(s.Get("status", "completionTime"))
	if !ended {
		end = s.now
	}
	return duration.HumanDuration(end.Sub(begin))
}

func suspended(s source) string {
	switch suspend := s.Get("spec", "suspend"); {
	case suspend.Kind() != value.KindBool:
		return unset
	case suspend.Bool():
		return "True"
	}
	return "False"
}

func lastSchedule(s source) string {
	if last := s.Get("status", "lastScheduleTime"); last.Kind() == value.KindString {
		return s.since(last)
	}
	return none
}

// share shows a number of pods or a percentage.
func share(path ...string) cell {
	return shown(func(s source) string {
		switch v := s.Get(path...); v.Kind() {
		case value.KindInt:
			return fmt.Sprint(v.Int())
		case value.KindString:
			return v.Str()
		}
		return "N/A"
	})
}
