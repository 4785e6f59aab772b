// A client for SQLite in Go. It does the operations of embermark with the driver
// modernc.org/sqlite, and was written only from docs/clients.md.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"time"

	_ "modernc.org/sqlite"
)

// Kinds of calls.
const (
	callRun   = 1
	callQuery = 2
	callLoad  = 3
)

var errUnsupported = errors.New("unsupported")

// A table that calls refer to.
type table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
}

// A request. Each kind has some of the fields.
type request struct {
	Do         string            `json:"do"`
	Engine     string            `json:"engine"`
	Connection map[string]string `json:"connection"`
	ReadBack   []string          `json:"read_back"`
	Operations json.RawMessage   `json:"operations"`
	Answers    string            `json:"answers"`
	Statements []string          `json:"statements"`
	Tables     []table           `json:"tables"`
	WarmUp     bool              `json:"warm_up"`
	RepeatNs   *int64            `json:"repeat_ns"`
	MostNs     *int64            `json:"most_ns"`
}

// A call that every operation of a block makes. It has the parameters of all operations, in order.
type call struct {
	code, target int
	params       [][]any
	statement    *sql.Stmt
}

// A group of operations that make the same calls.
type block struct {
	transaction uint64
	writes      bool
	operations  int
	calls       []call
}

// Result of a call: the number of changed rows, or rows.
type answer struct {
	changed int64
	columns int
	values  []any
}

// Results of a block.
type answered struct {
	total bool
	done  int
	calls []answer
}

// A reader for the file of operations.
type reader struct {
	bytes []byte
	at    int
}

func (r *reader) word() uint64 {
	r.at += 8
	return binary.LittleEndian.Uint64(r.bytes[r.at-8:])
}

func (r *reader) padded(n int) []byte {
	piece := r.bytes[r.at : r.at+n]
	r.at += (n + 7) / 8 * 8
	return piece
}

// Reads the values of a parameter, one for each of n operations.
func (r *reader) column(n int) []any {
	kind, hasNulls := r.word(), r.word() == 1
	values := make([]any, n)
	if kind == 0 {
		return values
	}
	var nulls []byte
	if hasNulls {
		nulls = r.padded(n)
	}
	var ends []int
	var piece []byte
	if kind == 3 || kind == 4 {
		for range n + 1 {
			ends = append(ends, int(r.word()))
		}
		piece = r.padded(ends[n])
	}
	for i := range values {
		var value any
		switch kind {
		case 1:
			value = int64(r.word())
		case 2:
			value = math.Float64frombits(r.word())
		case 3:
			value = string(piece[ends[i]:ends[i+1]])
		case 4:
			value = piece[ends[i]:ends[i+1]]
		}
		if nulls == nil || nulls[i] == 0 {
			values[i] = value
		}
	}
	return values
}

func readBlocks(path string) ([]block, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &reader{bytes: bytes}
	if string(r.padded(8)) != "embmops1" {
		return nil, errors.New("the file of operations is of another version")
	}
	blocks := make([]block, r.word())
	for i := range blocks {
		b := block{transaction: r.word(), writes: r.word() == 1, operations: int(r.word())}
		b.calls = make([]call, r.word())
		for j := range b.calls {
			c := call{code: int(r.word()), target: int(r.word()), params: make([][]any, b.operations)}
			columns := make([][]any, r.word())
			for k := range columns {
				columns[k] = r.column(b.operations)
			}
			for k := range c.params {
				c.params[k] = make([]any, len(columns))
				for l := range columns {
					c.params[k][l] = columns[l][k]
				}
			}
			b.calls[j] = c
		}
		blocks[i] = b
	}
	return blocks, nil
}

// An open database and the prepared phase.
type client struct {
	database   *sql.DB
	connection *sql.Conn
	told       request
	blocks     []block
	statements map[string]*sql.Stmt
	answers    []answered
	samples    []int64
}

var background = context.Background()

func (c *client) open(told request) (any, error) {
	if told.Connection["file"] == "" {
		return nil, fmt.Errorf("%w: this client is for sqlite only", errUnsupported)
	}
	database, err := sql.Open("sqlite", told.Connection["file"])
	if err != nil {
		return nil, err
	}
	connection, err := database.Conn(background)
	if err != nil {
		return nil, err
	}
	c.database, c.connection = database, connection
	for _, pragma := range strings.Split(told.Connection["pragmas"], "; ") {
		if _, err := connection.ExecContext(background, "PRAGMA "+pragma); err != nil {
			return nil, err
		}
	}
	settings := map[string]any{}
	for _, name := range told.ReadBack {
		var value any
		if err := connection.QueryRowContext(background, "PRAGMA "+name).Scan(&value); err != nil {
			return nil, err
		}
		settings[name] = value
	}
	return map[string]any{"settings": settings}, nil
}

func (c *client) prepare(told request) error {
	var path string
	if err := json.Unmarshal(told.Operations, &path); err != nil {
		return err
	}
	blocks, err := readBlocks(path)
	if err != nil {
		return err
	}
	c.told, c.blocks, c.statements = told, blocks, map[string]*sql.Stmt{}
	for i := range blocks {
		for j := range blocks[i].calls {
			made := &blocks[i].calls[j]
			var text string
			switch made.code {
			case callRun, callQuery:
				text = told.Statements[made.target]
			case callLoad:
				into := told.Tables[made.target]
				places := strings.TrimSuffix(strings.Repeat("?, ", len(into.Columns)), ", ")
				text = fmt.Sprintf(`INSERT INTO "%s" ("%s") VALUES (%s)`, into.Name, strings.Join(into.Columns, `", "`), places)
			default:
				return fmt.Errorf("%w: calls of kind %d", errUnsupported, made.code)
			}
			if c.statements[text] == nil {
				if c.statements[text], err = c.connection.PrepareContext(background, text); err != nil {
					return err
				}
			}
			made.statement = c.statements[text]
		}
	}
	if told.WarmUp {
		_, _, err = c.once(time.Time{})
	}
	return err
}

func (c *client) run(told request) (any, error) {
	runtime.GC()
	began := time.Now()
	var most time.Time
	if told.MostNs != nil {
		most = began.Add(time.Duration(*told.MostNs))
	}
	operations, capped, err := c.once(most)
	for err == nil && !capped && c.told.RepeatNs != nil && time.Since(began) < time.Duration(*c.told.RepeatNs) {
		var more int
		more, capped, err = c.once(most)
		operations += more
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"elapsed_ns": time.Since(began).Nanoseconds(), "operations": operations, "capped": capped}, nil
}

// Does every operation once. Returns how many were done, and whether `most` stopped them.
func (c *client) once(most time.Time) (done int, capped bool, err error) {
	c.answers, c.samples = nil, nil
	open := uint64(0)
	exec := func(text string) {
		if err == nil {
			_, err = c.connection.ExecContext(background, text)
		}
	}
	for i := range c.blocks {
		b := &c.blocks[i]
		if b.transaction != open || b.transaction == 0 {
			if open != 0 {
				exec("COMMIT")
				open = 0
			}
			if done > 0 && !most.IsZero() && !time.Now().Before(most) {
				return done, true, err
			}
			if b.transaction != 0 {
				if b.writes {
					exec("BEGIN IMMEDIATE")
				} else {
					exec("BEGIN")
				}
				open = b.transaction
			}
		}
		if err != nil {
			return done, false, err
		}
		got, err := c.work(b, most)
		if err != nil {
			return done, false, err
		}
		c.answers = append(c.answers, got)
		done += got.done
		if got.done < b.operations {
			capped = true
			break
		}
	}
	if open != 0 {
		exec("COMMIT")
	}
	return done, capped, err
}

func (c *client) work(b *block, most time.Time) (answered, error) {
	if b.calls[0].code == callLoad {
		return c.load(b)
	}
	got := answered{calls: make([]answer, 0, b.operations*len(b.calls))}
	done, err := loop(b.operations, most, &c.samples, func(i int) error {
		for j := range b.calls {
			answer, err := b.calls[j].do(i)
			if err != nil {
				return err
			}
			got.calls = append(got.calls, answer)
		}
		return nil
	})
	got.done = done
	return got, err
}

// Loads rows: one transaction around the INSERT of each row.
func (c *client) load(b *block) (answered, error) {
	if _, err := c.connection.ExecContext(background, "BEGIN IMMEDIATE"); err != nil {
		return answered{}, err
	}
	for _, params := range b.calls[0].params {
		if _, err := b.calls[0].statement.ExecContext(background, params...); err != nil {
			return answered{}, err
		}
	}
	_, err := c.connection.ExecContext(background, "COMMIT")
	return answered{total: true, done: b.operations, calls: []answer{{changed: int64(b.operations), columns: -1}}}, err
}

func (c *call) do(operation int) (answer, error) {
	params := c.params[operation]
	if c.code == callRun {
		result, err := c.statement.ExecContext(background, params...)
		if err != nil {
			return answer{}, err
		}
		changed, err := result.RowsAffected()
		return answer{changed: changed, columns: -1}, err
	}
	rows, err := c.statement.QueryContext(background, params...)
	if err != nil {
		return answer{}, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return answer{}, err
	}
	found := answer{columns: len(names)}
	row, places := make([]any, len(names)), make([]any, len(names))
	for i := range row {
		places[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return answer{}, err
		}
		found.values = append(found.values, row...)
	}
	return found, rows.Err()
}

// Does operations 0 to n-1 until `most`, and times some of them. Returns how many were done.
// Reading the clock may take at most half a percent of the time.
func loop(n int, most time.Time, samples *[]int64, operation func(int) error) (int, error) {
	every := 1
	for at := 0; at < n; {
		began := time.Now()
		if err := operation(at); err != nil {
			return at, err
		}
		ended := time.Now()
		*samples = append(*samples, ended.Sub(began).Nanoseconds())
		at++
		if !most.IsZero() && !ended.Before(most) {
			return at, nil
		}
		if at == 8 {
			last := append([]int64{}, (*samples)[len(*samples)-8:]...)
			sort.Slice(last, func(i, j int) bool { return last[i] < last[j] })
			cost := 2 * time.Since(time.Now()).Nanoseconds()
			every = int(float64(cost)/(0.005*float64(max(last[4], 1)))) | 1
		}
		for next := min(at+every-1, n); at < next; at++ {
			if err := operation(at); err != nil {
				return at, err
			}
		}
	}
	return n, nil
}

// Writes the file of results.
func (c *client) write() error {
	file, err := os.OpenFile(c.told.Answers, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	to := bufio.NewWriterSize(file, 1<<20)
	word := func(value uint64) { to.Write(binary.LittleEndian.AppendUint64(nil, value)) }
	to.WriteString("embmans1")
	word(uint64(len(c.samples)))
	for _, sample := range c.samples {
		word(uint64(sample))
	}
	word(uint64(len(c.answers)))
	for _, got := range c.answers {
		if got.total {
			word(1)
		} else {
			word(0)
		}
		word(uint64(got.done))
		for _, a := range got.calls {
			if a.columns < 0 {
				word(uint64(a.changed))
				continue
			}
			word(uint64(len(a.values) / max(a.columns, 1)))
			word(uint64(a.columns))
			for _, value := range a.values {
				encoded, err := encode(value)
				if err != nil {
					return err
				}
				to.Write(encoded)
			}
		}
	}
	return errors.Join(to.Flush(), file.Close())
}

func encode(value any) ([]byte, error) {
	word := func(kind byte, value uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{kind}, value) }
	long := func(kind byte, bytes string) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(bytes))), bytes...)
	}
	switch value := value.(type) {
	case nil:
		return []byte{0}, nil
	case int64:
		return word(1, uint64(value)), nil
	case float64:
		return word(2, math.Float64bits(value)), nil
	case string:
		return long(3, value), nil
	case []byte:
		return long(4, string(value)), nil
	}
	return nil, fmt.Errorf("an answer has a value of type %T", value)
}

func (c *client) close() error {
	for _, statement := range c.statements {
		statement.Close()
	}
	err := errors.Join(c.connection.Close(), c.database.Close())
	*c = client{}
	return err
}

// Does operations that do nothing, in the loop of all others.
func floor(told request) (any, error) {
	var operations int
	if err := json.Unmarshal(told.Operations, &operations); err != nil {
		return nil, err
	}
	var samples []int64
	got := make([]answer, 0, operations)
	began := time.Now()
	loop(operations, time.Time{}, &samples, func(int) error {
		got = append(got, answer{})
		return nil
	})
	return map[string]any{"elapsed_ns": time.Since(began).Nanoseconds(), "operations": operations, "capped": false}, nil
}

// Returns the driver's version, from the modules of the program.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "modernc.org/sqlite" {
				return fmt.Sprintf("%s, %s %s", runtime.Version(), module.Path, module.Version)
			}
		}
	}
	return runtime.Version()
}

func (c *client) answer(told request) (any, error) {
	nothing := struct{}{}
	switch told.Do {
	case "load":
		if told.Engine != "sqlite" {
			return nil, fmt.Errorf("%w: this client is for sqlite only", errUnsupported)
		}
		return map[string]string{"version": version()}, nil
	case "open":
		return c.open(told)
	case "prepare":
		return nothing, c.prepare(told)
	case "go":
		return c.run(told)
	case "answer":
		return nothing, c.write()
	case "close":
		return nothing, c.close()
	case "floor":
		return floor(told)
	}
	return nil, fmt.Errorf("there is no request %q in this version of the protocol", told.Do)
}

func main() {
	out := json.NewEncoder(os.Stdout)
	out.Encode(map[string]int{"protocol": 1})
	lines := json.NewDecoder(bufio.NewReader(os.Stdin))
	var own client
	for {
		var told request
		if err := lines.Decode(&told); err != nil {
			return
		}
		said, err := own.answer(told)
		switch {
		case errors.Is(err, errUnsupported):
			said = map[string]string{"unsupported": strings.TrimPrefix(err.Error(), "unsupported: ")}
		case err != nil:
			said = map[string]string{"error": err.Error()}
		}
		out.Encode(said)
	}
}
