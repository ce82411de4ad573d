package jobs

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// What the status of a Job may say. Most rules hold only for a status that changes what they are about: a status that broke a rule before may
// get other changes.

// jobState is what the conditions of a Job say.
type jobState struct {
	complete, failed, failing, successful, suspended, resumed bool
}

func jobStateOf(status value.Value) (s jobState) {
	for c := range status.Get("conditions").Items() {
		is := c.Get("status").Str()
		switch c.Get("type").Str() {
		case "Complete":
			s.complete = s.complete || is == "True"
		case "Failed":
			s.failed = s.failed || is == "True"
		case "FailureTarget":
			s.failing = s.failing || is == "True"
		case "SuccessCriteriaMet":
			s.successful = s.successful || is == "True"
		case "Suspended":
			s.suspended = s.suspended || is == "True"
			s.resumed = s.resumed || is == "False"
		}
	}
	return s
}

func (s jobState) finished() bool { return s.complete || s.failed }

// jobCounts are the counts of a Job.
var jobCounts = walk.Counts{Natural: []string{"active", "succeeded", "failed", "ready", "terminating"}}

// jobProgress is a status of a Job that is validated.
type jobProgress struct {
	*walk.Report
	at      walk.Place
	was     value.Value
	spec    value.Value
	is, had jobState
	ended   bool // whether the conditions that a job ends with changed
}

// ValidateStatus validates the status of a Job. The order of the calls is the order of the errors.
func ValidateStatus(r *walk.Report, object walk.Place, live value.Value) {
	s := jobProgress{Report: r, at: object.At("status"), was: live.Get("status"), spec: object.Get("spec")}
	s.is, s.had = jobStateOf(s.at.Value), jobStateOf(s.was)
	s.ended = s.is.finished() != s.had.finished()
	jobCounts.Check(r, object, live)
	s.uncounted(s.at.At("uncountedTerminatedPods"))
	s.excluding()
	s.completionTime()
	s.finished()
	s.indexes()
	s.counts()
	s.success()
	s.changes()
}

// changed reports whether the status has another value for a member than before. A time of zero, which is null here, differs from none.
func (s *jobProgress) changed(name string) bool {
	is, was := s.at.Get(name), s.was.Get(name)
	return !walk.Same(is, was) || is.IsNull() != was.IsNull()
}

// conditions refuses the conditions as a whole. The error does not show them.
func (s *jobProgress) conditions(detail string) {
	s.InvalidAs(s.at.At("conditions"), field.OmitValueType{}, detail)
}

// uncounted validates the UIDs of pods that have ended and are not counted yet.
func (s *jobProgress) uncounted(pods walk.Place) {
	var met walk.Names
	for _, name := range [...]string{"succeeded", "failed"} {
		list := pods.At(name)
		for i := range list.Indexes() {
			switch uid := list.Index(i); {
			case uid.Str() == "":
				s.InvalidAs(uid, "", "must not be empty")
			case !met.Add(uid.Str()):
				s.Duplicate(uid)
			}
		}
	}
}

// excluding refuses conditions that exclude each other.
func (s *jobProgress) excluding() {
	completed := s.is.complete != s.had.complete
	if (completed || s.is.failed != s.had.failed) && s.is.complete && s.is.failed {
		s.conditions("cannot set Complete=True and Failed=true conditions")
	}
	if (completed || s.is.failing != s.had.failing) && s.is.complete && s.is.failing {
		s.conditions("cannot set Complete=True and FailureTarget=true conditions")
	}
}

// completionTime validates when the job completed, and conditions that must stand beside others.
func (s *jobProgress) completionTime() {
	p := s.at.At("completionTime")
	if s.changed("completionTime") || s.is.complete != s.had.complete {
		if !p.IsAbsent() && !s.is.complete {
			s.Invalid(p, "cannot set completionTime when there is no Complete=True condition")
		}
		if p.IsAbsent() && s.is.complete {
			s.Required(p, "completionTime is required for Complete jobs")
		}
	}
	if started := s.at.Get("startTime"); s.changed("startTime") || s.changed("completionTime") {
		if !started.IsAbsent() && !p.IsAbsent() && walk.TimeOf(p.Value).Before(walk.TimeOf(started)) {
			s.Invalid(p, "must be equal to or after `startTime`")
		}
	}
	if (s.is.failed != s.had.failed || s.changed("failedIndexes")) && s.is.failed && !s.is.failing {
		s.conditions("cannot set Failed=True condition without the FailureTarget=true condition")
	}
	if (s.is.complete != s.had.complete || s.is.successful != s.had.successful) && s.is.complete && !s.is.successful {
		s.conditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
	}
}

// finished validates what a job that ended has.
func (s *jobProgress) finished() {
	if active := s.at.At("active"); (s.ended || s.changed("active")) && s.is.finished() && active.Int() > 0 {
		s.Invalid(active, "active>0 is invalid for finished job")
	}
	empty := s.spec.Get("suspend").Bool() && walk.IsSet(s.spec.Get("completions")) && s.spec.Get("completions").Int() == 0
	if started := s.at.At("startTime"); (s.ended || s.changed("startTime")) && !empty && s.is.finished() && started.IsAbsent() {
		s.Required(started, "startTime is required for finished job")
	}
	pods := s.at.At("uncountedTerminatedPods")
	if (s.ended || !s.Same(pods, s.was.Get(pods.Name()))) && s.is.finished() && pods.Get("failed").Len()+pods.Get("succeeded").Len() > 0 {
		s.Invalid(pods, "must be empty for finished job")
	}
}

// indexes validates which indexes of an indexed job have completed and failed.
func (s *jobProgress) indexes() {
	completed, failed := s.at.At("completedIndexes"), s.at.At("failedIndexes")
	completions, perIndex := s.spec.Get("completions"), s.spec.Get("backoffLimitPerIndex")
	if s.changed(completed.Name()) && walk.IsSet(completions) {
		if _, err := countIndexes(completed.Str(), completions.Int()); err != nil {
			s.InvalidAs(completed, completed.Str(), "error parsing completedIndexes: "+err.Error())
		}
	}
	if s.changed(failed.Name()) && walk.IsSet(completions) && walk.IsSet(perIndex) && failed.IsSet() {
		if _, err := countIndexes(failed.Str(), completions.Int()); err != nil {
			s.InvalidPointer(failed, "error parsing failedIndexes: "+err.Error())
		}
	}
	if s.changed(completed.Name()) && completed.Str() != "" && s.spec.Get("completionMode").Str() != "Indexed" {
		s.Invalid(completed, "cannot set non-empty completedIndexes when non-indexed completion mode")
	}
	if s.changed(failed.Name()) && !walk.IsSet(perIndex) && failed.IsSet() {
		s.Invalid(failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")
	}
	if (s.changed(failed.Name()) || s.changed(completed.Name())) && walk.IsSet(completions) && failed.IsSet() {
		if at, overlap := overlapping(completed.Str(), failed.Str(), completions.Int()); overlap {
			s.Invalid(failed, fmt.Sprintf("failedIndexes and completedIndexes overlap at index: %d", at))
		}
	}
}

// overlapping returns the first index that is in two lists of intervals, and whether there is one. Both lists are in order, and intervals that
// are none are skipped.
//
//	a  0-2,5    b  3,5-7    5
func overlapping(a, b string, below int64) (at int64, overlap bool) {
	intervals := func(text string) (out [][2]int64) {
		for part := range strings.SplitSeq(text, ",") {
			if bounds, err := interval(part, below); err == nil {
				out = append(out, bounds)
			}
		}
		return out
	}
	left, right := intervals(a), intervals(b)
	for len(left) > 0 && len(right) > 0 {
		x, y := left[0], right[0]
		switch {
		case x[0] <= y[1] && y[0] <= x[1]:
			return max(x[0], y[0]), true
		case x[0] <= y[0]:
			left = left[1:]
		default:
			right = right[1:]
		}
	}
	return 0, false
}

// counts validates the numbers of pods that end and of those that are ready.
func (s *jobProgress) counts() {
	if p := s.at.At("terminating"); (s.ended || s.changed("terminating")) && p.Int() > 0 && s.is.finished() {
		s.Invalid(p, "terminating>0 is invalid for finished job")
	}
	if ready := s.at.At("ready"); ready.IsSet() && (s.changed("ready") || s.changed("active")) {
		s.NotAbove(ready, s.at.Get("active"), "cannot set more ready pods than active")
	}
}

// success validates the condition that a job has met its criteria of success.
func (s *jobProgress) success() {
	if s.is.successful && s.is.failed {
		s.conditions("cannot set SuccessCriteriaMet=True and Failed=true conditions")
	}
	if s.is.successful && s.is.failing {
		s.conditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")
	}
	if walk.IsSet(s.spec.Get("successPolicy")) && !s.is.successful && s.is.complete {
		s.conditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")
	}
}

// changes refuses what no status may take back.
func (s *jobProgress) changes() {
	ends := []struct {
		name    string
		had, is bool
	}{{"Failed", s.had.failed, s.is.failed}, {"Complete", s.had.complete, s.is.complete}, {"FailureTarget", s.had.failing, s.is.failing}}
	for _, end := range ends {
		if end.had && !end.is {
			s.conditions("cannot disable the terminal " + end.name + "=True condition")
		}
	}
	scalable := s.spec.Get("completionMode").Str() == "Indexed" && s.spec.Get("completions").Equal(s.spec.Get("parallelism"))
	for _, name := range [...]string{"failed", "succeeded"} {
		if p := s.at.At(name); p.Int() < s.was.Get(name).Int() && !(name == "succeeded" && scalable) {
			s.InvalidAs(p, p.Int(), "cannot decrease the "+name+" counter")
		}
	}
	if p := s.at.At("completionTime"); !p.IsAbsent() && !s.was.Get("completionTime").IsAbsent() && s.changed("completionTime") {
		s.Invalid(p, "field is immutable")
	}
	resumes := s.had.suspended && s.is.resumed
	if p := s.at.At("startTime"); s.changed("startTime") && !resumes && !s.was.Get("startTime").IsAbsent() && !s.spec.Get("suspend").Bool() {
		s.Invalid(p, "field is immutable for unsuspended job once set")
	}
	if s.had.successful && !s.is.successful {
		s.conditions("cannot disable the SuccessCriteriaMet=True condition")
	}
	if s.had.complete && !s.had.successful && s.is.successful {
		s.conditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")
	}
}
