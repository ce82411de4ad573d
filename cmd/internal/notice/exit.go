package notice

// The exit codes of the command. The highest that applies counts.
const (
	ExitDone     = 0
	ExitFinding  = 1
	ExitInput    = 2
	ExitInternal = 3
)

// ExitCodes says what each exit code means, in all commands.
var ExitCodes = [...]string{
	ExitDone:     "done, and nothing was found",
	ExitFinding:  "the answer is no: a finding, a conflict, a difference, or an object that is invalid or refused",
	ExitInput:    "not done, or not all of it: the command line is wrong, something cannot be read, or no schema describes a kind",
	ExitInternal: "deed failed",
}
