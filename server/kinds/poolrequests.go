package kinds

import (
	"fmt"
	"strconv"

	"github.com/deed-project/deed/value"
)

// poolRequestCells returns the cells of a ResourcePoolStatusRequest. Numbers of devices are the sums over its pools, unless the request failed.
func poolRequestCells() []cell {
	sum := func(of func(pool value.Value) int64) cell {
		return shown(func(s source) string {
			if state, _ := poolRequestState(s); !hasStatus(s) || state == "Failed" {
				return "-"
			}
			n := int64(0)
			for pool := range s.Get("status", "pools").Items() {
				n += of(pool)
			}
			return strconv.FormatInt(n, 10)
		})
	}
	devices := func(member string) cell {
		return sum(func(pool value.Value) int64 { return pool.Get(member).Int() })
	}
	faults := sum(func(pool value.Value) int64 {
		if pool.Get("validationError").Kind() == value.KindString {
			return 1
		}
		return 0
	})
	state := shown(func(s source) string {
		state, _ := poolRequestState(s)
		all, told := s.Get("status", "poolCount").Int(), s.Get("status", "pools").Len()
		if state == "Complete" && all > int64(told) {
			return fmt.Sprintf("Complete (%d/%d pools)", told, all)
		}
		return state
	})
	completed := shown(func(s source) string {
		if state, at := poolRequestState(s); state == "Complete" {
			return s.since(at)
		}
		return none
	})
	return []cell{
		name, text("spec", "driver"), devices("totalDevices"), devices("availableDevices"), devices("allocatedDevices"), devices("unavailableDevices"),
		faults, number("status", "poolCount"), state, completed,
	}
}

func hasStatus(s source) bool { return s.Get("status").Kind() == value.KindObject }

// poolRequestState returns the state of a ResourcePoolStatusRequest, and when it was reached.
func poolRequestState(s source) (state string, at value.Value) {
	for condition := range s.Get("status", "conditions").Items() {
		kind := condition.Get("type").Str()
		if condition.Get("status").Str() == "True" && (kind == "Complete" || kind == "Failed") {
			return kind, condition.Get("lastTransitionTime")
		}
	}
	return "Pending", value.Value{}
}
