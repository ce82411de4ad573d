package tables

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/value"
)

var coreKinds = map[string][]cell{
	"configmaps": {name, func(s source) value.Value {
		return value.Int(int64(s.Get("data").Len() + s.Get("binaryData").Len()))
	}, age},
	"endpoints": {name, shown(endpointsOf), age},
	"events": {
		shown(lastSeen), text("type"), text("reason"), shown(involved), text("involvedObject", "fieldPath"), shown(eventSource),
		shown(func(s source) string { return strings.TrimSpace(s.Get("message").Str()) }), shown(firstSeen), timesSeen, name,
	},
	"limitranges": {name, created},
	"namespaces":  {name, text("status", "phase"), age},
	"nodes": {
		name, shown(nodeStatus), shown(nodeRoles), age, text("status", "nodeInfo", "kubeletVersion"), nodeAddress("InternalIP"),
		nodeAddress("ExternalIP"), textOr(unknown, "status", "nodeInfo", "osImage"), shown(nodeKernel),
		textOr(unknown, "status", "nodeInfo", "containerRuntimeVersion"),
	},
	"podtemplates":    {name, containers("template"), images("template"), labelsOf("template", "metadata", "labels")},
	"resourcequotas":  {name, quota(false), quota(true), age},
	"secrets":         {name, text("type"), count("data"), age},
	"serviceaccounts": {name, age},
}

// endpointsOf shows the first three addresses of Endpoints, each with every port that there is.
func endpointsOf(s source) string {
	if s.Get("subsets").Len() == 0 {
		return none
	}
	var all []string
	for subset := range s.Get("subsets").Items() {
		addresses := names(subset.Get("addresses"), "ip")
		if subset.Get("ports").Len() == 0 {
			all = append(all, addresses...)
		}
		for port := range subset.Get("ports").Items() {
			for _, ip := range addresses {
				all = append(all, net.JoinHostPort(ip, strconv.FormatInt(port.Get("port").Int(), 10)))
			}
		}
	}
	return withMore(all, 3, ",")
}

// firstSeen shows when an event happened first: events of today have only the time of that.
func firstSeen(s source) string {
	if _, known := instant(s.Get("firstTimestamp")); known {
		return s.since(s.Get("firstTimestamp"))
	}
	return s.since(s.Get("eventTime"))
}

// lastSeen shows when an event happened last.
func lastSeen(s source) string {
	if series := s.Get("series"); series.Kind() == value.KindObject {
		return s.since(series.Get("lastObservedTime"))
	}
	if _, known := instant(s.Get("lastTimestamp")); known {
		return s.since(s.Get("lastTimestamp"))
	}
	return firstSeen(s)
}

// timesSeen shows how often an event happened.
func timesSeen(s source) value.Value {
	if series := s.Get("series"); series.Kind() == value.KindObject {
		return value.Int(series.Get("count").Int())
	}
	return value.Int(cmp.Or(s.Get("count").Int(), 1))
}

// involved shows what an event is about.
func involved(s source) string {
	kind := strings.ToLower(s.Get("involvedObject", "kind").Str())
	if name := s.Get("involvedObject", "name").Str(); name != "" {
		return kind + "/" + name
	}
	return kind
}

// eventSource shows who tells of an event.
func eventSource(s source) string {
	component := orElse(s.Get("source", "component").Str(), s.Get("reportingComponent").Str())
	instance := orElse(s.Get("source", "host").Str(), s.Get("reportingInstance").Str())
	if instance == "" {
		return component
	}
	return component + ", " + instance
}

// nodeStatus shows whether a node is ready, and whether it takes pods. The last condition of a type counts.
func nodeStatus(s source) string {
	status := "Unknown"
	for c := range s.Get("status", "conditions").Items() {
		switch {
		case c.Get("type").Str() != "Ready":
		case c.Get("status").Str() == "True":
			status = "Ready"
		default:
			status = "NotReady"
		}
	}
	if s.Get("spec", "unschedulable").Bool() {
		status += ",SchedulingDisabled"
	}
	return status
}

// nodeRoles shows the roles that the labels of a node give it.
func nodeRoles(s source) string {
	var roles []string
	for label, v := range s.Get("metadata", "labels").Members() {
		role, ofPrefix := strings.CutPrefix(label, "node-role.kubernetes.io/")
		if !ofPrefix && label == "kubernetes.io/role" {
			role, ofPrefix = v.Str(), true
		}
		if ofPrefix && role != "" {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	return orElse(strings.Join(slices.Compact(roles), ","), none)
}

// nodeAddress shows the first address of a type.
func nodeAddress(typ string) cell {
	return shown(func(s source) string {
		for a := range s.Get("status", "addresses").Items() {
			if a.Get("type").Str() == typ {
				return a.Get("address").Str()
			}
		}
		return none
	})
}

// nodeKernel shows the kernel of a node, with its architecture.
func nodeKernel(s source) string {
	info := s.Get("status", "nodeInfo")
	kernel := orElse(info.Get("kernelVersion").Str(), unknown)
	if architecture := info.Get("architecture").Str(); architecture != "" {
		kernel += " (" + architecture + ")"
	}
	return kernel
}

// quota shows how much of each resource is used: of limits, or of everything else.
func quota(limits bool) cell {
	return shown(func(s source) string {
		var out []string
		for resource, hard := range s.Get("status", "hard").Members() {
			if strings.HasPrefix(resource, "limits.") == limits {
				used := orElse(s.Get("status", "used", resource).Str(), "0")
				out = append(out, fmt.Sprintf("%s: %s/%s", resource, used, hard.Str()))
			}
		}
		return strings.Join(out, ", ")
	})
}
