// FerretDB 1.24 (MongoDB's wire protocol over SQLite) as a stand-in for mongod.
//
// FerretDB finds the documents of an update and writes them in two steps: of two at once, one is lost. mongod
// promises that an update of one document is atomic, and compare-and-set stands on that. So clients are not let at
// FerretDB directly: commands that write a collection go through one at a time.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/FerretDB/FerretDB/ferretdb"
)

const (
	headerBytes = 16
	maxBytes    = 64 << 20
	opMsg       = 2013
	moreToCome  = 1 << 1
)

var reads = map[string]bool{
	"find": true, "getMore": true, "count": true, "aggregate": true, "distinct": true, "explain": true,
	"hello": true, "isMaster": true, "ismaster": true, "ping": true, "buildInfo": true, "killCursors": true,
	"listCollections": true, "listIndexes": true, "listDatabases": true, "endSessions": true,
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address; port 0: any free one")
	dir := flag.String("dir", "", "folder of the SQLite files, ends with /")
	certificate := flag.String("certificate", "", "PEM file: clients connect with TLS")
	key := flag.String("key", "", "PEM file with the key of the certificate")
	flag.Parse()
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: "127.0.0.1:0"},
		Logger:    slog.New(errorsOnly{slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})}),
		Handler:   "sqlite",
		// Synced at checkpoints of the log: a kill of the process loses nothing, a power cut may.
		SQLiteURL: "file:" + *dir + "?_pragma=synchronous(normal)",
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go front(*listen, *certificate, *key, server)
	go emptyLogs(*dir)
	if err := server.Run(ctx); err != nil {
		log.Fatal(err)
	}
}

// SQLite begins its write-ahead log anew only in a moment without readers, which never comes under load. Each read looks
// through the whole log, which had 240 MB beside 21 MB of data after an hour.
func emptyLogs(dir string) {
	for range time.Tick(5 * time.Second) {
		files, _ := filepath.Glob(filepath.Join(dir, "*.sqlite"))
		for _, file := range files {
			wal, err := os.Stat(file + "-wal")
			if err != nil || wal.Size() < 16<<20 {
				continue
			}
			db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(1000)")
			if err != nil {
				log.Fatal(err)
			}
			// Waits for readers, and keeps others out meanwhile. What lasts for longer makes it fail, and it is tried again.
			if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
				log.Print(err)
			}
			db.Close()
		}
	}
}

// FerretDB gives a logger the arguments of each statement, whole documents, which a handler writes out whether or not
// the line is ever logged: a sixth of its time. They are left out.
type errorsOnly struct{ slog.Handler }

func (h errorsOnly) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h errorsOnly) WithGroup(string) slog.Handler      { return h }

func front(listen, certificate, key string, server *ferretdb.FerretDB) {
	uri, err := url.Parse(server.MongoDBURI())
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		log.Fatal(err)
	}
	address := listener.Addr()
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			log.Fatal(err)
		}
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}})
	}
	fmt.Println("listening on", address)
	writing := &locks{of: map[string]*sync.Mutex{}}
	for {
		client, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go func() {
			defer client.Close()
			if err := relay(client, uri.Host, writing); err != nil && !errors.Is(err, io.EOF) {
				log.Print(err)
			}
		}()
	}
}

// Requests of one connection, each followed by its answer.
func relay(client net.Conn, address string, writing *locks) error {
	backend, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer backend.Close()
	for {
		request, err := read(client)
		if err != nil {
			return err
		}
		answer, err := exchange(backend, request, writing)
		if err != nil {
			return err
		}
		if _, err := client.Write(answer); err != nil {
			return err
		}
	}
}

func exchange(backend net.Conn, request []byte, writing *locks) ([]byte, error) {
	if command, collection := commandOf(request); !reads[command] {
		lock := writing.on(collection)
		lock.Lock()
		defer lock.Unlock()
	}
	if _, err := backend.Write(request); err != nil {
		return nil, err
	}
	if isMsg(request) && binary.LittleEndian.Uint32(request[headerBytes:])&moreToCome != 0 {
		return nil, nil
	}
	return read(backend)
}

func read(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size < headerBytes || size > maxBytes {
		return nil, fmt.Errorf("message of %d bytes", size)
	}
	message := make([]byte, size)
	copy(message, length[:])
	_, err := io.ReadFull(from, message[4:])
	return message, err
}

func isMsg(message []byte) bool {
	return len(message) >= headerBytes+4 && binary.LittleEndian.Uint32(message[12:]) == opMsg
}

// One for each collection; those of the same name in two databases share one.
type locks struct {
	sync.Mutex
	of map[string]*sync.Mutex
}

func (l *locks) on(collection string) *sync.Mutex {
	l.Lock()
	defer l.Unlock()
	lock, ok := l.of[collection]
	if !ok {
		lock = &sync.Mutex{}
		l.of[collection] = lock
	}
	return lock
}

// The command and its collection: the first key of the body, which drivers send as the first section, and its value
// when that is a text. "" what is unknown.
func commandOf(message []byte) (command, collection string) {
	const key = headerBytes + 4 + 1 + 4 + 1
	const text = 2
	if !isMsg(message) || len(message) < key || message[headerBytes+4] != 0 {
		return "", ""
	}
	end := bytes.IndexByte(message[key:], 0)
	if end < 0 {
		return "", ""
	}
	command = string(message[key : key+end])
	value := key + end + 1 + 4
	if message[key-1] != text || len(message) <= value {
		return command, ""
	}
	length := bytes.IndexByte(message[value:], 0)
	if length < 0 {
		return command, ""
	}
	return command, string(message[value : value+length])
}
