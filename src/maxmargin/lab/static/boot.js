// The served page: rooms from the server, answers over a socket.
import { connect } from "./connection.js";
import { start } from "./main.js";

const rooms = await (await fetch("rooms.json")).json();
start({
  rooms,
  load: (name) => import(`./rooms/${name}.js`),
  connect,
  recording: null,
});
