package keywords

import "regexp/syntax"

// PatternSize estimates the number of instructions in the program of a pattern without compiling it: a{1000} has a thousand times as many
// as a. It returns 0 for an invalid pattern.
//
// Parsing takes time in proportion to the text, where compiling takes time and memory in proportion to the outcome. Short patterns can have
// large programs: (a{1000}){1000}.
func PatternSize(pattern string) int64 {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	return sizeOf(parsed) + 2 // two for the begin and the end
}

// sizeOf returns about the number of instructions of a part of a pattern.
func sizeOf(r *syntax.Regexp) int64 {
	var below int64
	for _, sub := range r.Sub {
		below += sizeOf(sub)
	}
	switch r.Op {
	case syntax.OpLiteral:
		return int64(max(1, len(r.Rune)))
	case syntax.OpCapture, syntax.OpStar:
		return below + 2
	case syntax.OpPlus, syntax.OpQuest:
		return below + 1
	case syntax.OpAlternate:
		return below + int64(len(r.Sub))
	case syntax.OpRepeat:
		if r.Max < 0 { // r.Min copies, and then a star
			return below*int64(max(1, r.Min)) + 2
		}
		return below*int64(r.Min) + (below+1)*int64(r.Max-r.Min)
	}
	return below + 1
}
