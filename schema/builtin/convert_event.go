package builtin

import "github.com/deed-project/deed/value"

// eventNames has pairs of names of event members: in events.k8s.io/v1, and in v1.
var eventNames = [][2]string{
	{"regarding", "involvedObject"}, {"note", "message"}, {"deprecatedSource", "source"}, {"deprecatedCount", "count"},
	{"deprecatedFirstTimestamp", "firstTimestamp"}, {"deprecatedLastTimestamp", "lastTimestamp"},
	{"reportingController", "reportingComponent"},
}

// eventFromNew gives the members of an event of events.k8s.io/v1 the names that they have in v1.
func eventFromNew(event value.Value) value.Value { return renamed(event, 0, 1) }

// eventToNew is the reverse.
func eventToNew(event value.Value) value.Value { return renamed(event, 1, 0) }

func renamed(event value.Value, from, to int) value.Value {
	for _, pair := range eventNames {
		if member := event.Get(pair[from]); !member.IsAbsent() {
			event = event.With(pair[from], value.Value{}).With(pair[to], member)
		}
	}
	return event
}
