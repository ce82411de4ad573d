package kinds

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/deed-project/deed/value"
)

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

// jobCompletions shows how many pods succeeded, of how many.
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

// suspended shows whether a CronJob is suspended, as its Go type prints it.
func suspended(s source) string {
	switch suspend := s.Get("spec", "suspend"); {
	case suspend.Kind() != value.KindBool:
		return unset
	case suspend.Bool():
		return "True"
	}
	return "False"
}

// lastSchedule shows how long ago a CronJob made its last job.
func lastSchedule(s source) string {
	if last := s.Get("status", "lastScheduleTime"); last.Kind() == value.KindString {
		return s.since(last)
	}
	return none
}

func jobCells() []cell {
	return []cell{
		name, shown(jobStatus), shown(jobCompletions), shown(jobDuration), age, containers("spec", "template"), images("spec", "template"),
		selectorOf("spec", "selector"),
	}
}

func cronJobCells() []cell {
	return []cell{
		name, text("spec", "schedule"), textOr(none, "spec", "timeZone"), shown(suspended), count("status", "active"), shown(lastSchedule), age,
		containers("spec", "jobTemplate", "spec", "template"), images("spec", "jobTemplate", "spec", "template"),
		selectorOf("spec", "jobTemplate", "spec", "selector"),
	}
}
